"""The paper's experiments, compared with its own figures.

`protocol` defines a run and the algorithms; `records` keeps finished runs on disk; `tables` sums
them up next to the published figures; `figure` draws |G| over psi. `published_runs` has the runs
that the authors published, `replay` makes one of them again, `exact` all, and compares. The command
line ``vanishing reproduce`` puts them together.
"""
