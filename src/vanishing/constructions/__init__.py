"""From moments to generators: OAVI, ABM, AVI, VCA, contrastive ones and the exact algorithm."""

from vanishing._names import PLACES

# Those that a classifier may be built on: names of options, which are those of the files here, and
# of the classes they stand for. The exact algorithm takes no rows of floats, and what finds
# invariants of loops is a function.
CONSTRUCTIONS = {
    place.removeprefix("constructions."): name
    for name, place in PLACES.items()
    if place.startswith("constructions.") and name[0].isupper() and name != "BuchbergerMoller"
}
