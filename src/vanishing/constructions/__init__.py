"""From moments to generators: OAVI, ABM, AVI, VCA, contrastive ones and the exact algorithm."""

# Those that a classifier may be built on: names of options, and of the classes they stand for.
CONSTRUCTIONS = {
    "oavi": "OAVI",
    "abm": "ABM",
    "avi": "AVI",
    "vca": "VCA",
    "contrastive": "ContrastiveVanishing",
}
