"""How much a picture shows: each number trades what can be told apart for what can be drawn."""

POINTS = 3000  # rows of a law that are drawn; more are a blot
STRIP_POINTS = 150  # rows of a class beside its box, which stands for them all
RUNS = 40  # lines of runs
FOLLOWED_RUNS = 40  # runs over which equations are integrated
FIELD = 40  # points of a field in each direction, which streamlines are drawn along
LEVELS = 12  # level curves of a phase portrait
BARS = 15  # columns to blame for outliers
LEGEND_EQUATIONS = 8  # of more generators the legend names the classes only
LEGEND_TERMS = 4  # of an equation in a legend
TITLE_CHARACTERS = 75  # of a law or quantity
LEGEND_GROUPS = 10  # in one column of a legend
