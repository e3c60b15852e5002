"""The paper's experiments, compared with its own figures.

Our own protocol: `protocol` defines a run and the algorithms, `reproduce` makes the runs of an
experiment, `tables` sums them up next to the published figures, `figure` draws |G| and |O| over
psi, and `scale` measures seconds against rows. The authors' own runs: `published_runs` has them,
`replay` makes one of them again, `ties` asks what rounding decides in it, `published_search`
chooses psi and C as they did, and `exact` does so for all, and compares. `records` keeps finished
runs on disk; `settings` has the numbers. The command line ``vanishing reproduce`` puts them
together.
"""
