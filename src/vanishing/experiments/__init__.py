"""The paper's experiments, beside its own numbers.

`protocol` says what one run is and of which algorithms; `records` keeps finished runs on disk;
`tables` sums them up beside the published figures; `figure` draws |G| over psi. The command line
``vanishing reproduce`` puts them together.
"""
