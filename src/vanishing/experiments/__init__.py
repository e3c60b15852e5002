"""The paper's experiments, compared with its own figures.

`protocol` defines a run and the algorithms; `records` keeps finished runs on disk; `tables` sums
them up next to the published figures; `figure` draws |G| over psi. The command line ``vanishing
reproduce`` puts them together.
"""
