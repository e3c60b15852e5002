"""How much a report shows: each number trades what a reader sees for the size of the file and time.

None of them was measured: they keep a page below about half a megabyte and some seconds.
"""

# Equations of all classes together, and of one class: listed, and shown before more is asked for.
LISTED, LISTED_OF_CLASS = 400, 100
SHOWN, SHOWN_OF_CLASS = 80, 20
# Surfaces of the picture, of all classes together and of one class.
SURFACES, SURFACES_OF_CLASS = 12, 4
DECISION_TERMS = 4000  # up to which the page evaluates the decision function
# Rows that the file holds: whoever gets it sees them.
SCENE_POINTS, SCENE_COLUMNS = 2000, 8
POINTS = 1500  # of a chart; of outliers, of normal rows and outliers each
POINTS_OF_RUN = 150
FIELD = 17  # arrows of a phase portrait in each direction
# Rows and generators by which columns are ranked, and by which distances are measured.
RANKING_SAMPLE = 300, 60
DISTANCE_SAMPLE = 400, 20
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of distances
# Lines of tables, and panels.
ROWS = 20  # the oddest rows, and runs
COLUMNS = 12  # by what they change in the decision
BLAMED_COLUMNS = 30
CELLS = 500  # that were repaired
PANELS = 24  # columns with a picture of residuals
