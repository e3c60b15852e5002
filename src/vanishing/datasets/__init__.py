"""The six data sets of the paper, from local files or OpenML; points on varieties; laws; runs.

A local file of a data set is ``<name>.csv.gz`` or ``<name>.csv``: a header row, one column per
feature with raw (unscaled) values, and a last column ``class`` with the values 0, ..., k - 1.
"""

from vanishing.datasets.feynman import feynman, feynman_laws
from vanishing.datasets.loading import load
from vanishing.datasets.moving import make_motion, motion_systems
from vanishing.datasets.plant import make_plant
from vanishing.datasets.varieties import (
    make_circle,
    make_sphere,
    make_two_surfaces,
    make_variety,
)

__all__ = [
    "feynman",
    "feynman_laws",
    "load",
    "make_circle",
    "make_motion",
    "make_plant",
    "make_sphere",
    "make_two_surfaces",
    "make_variety",
    "motion_systems",
]
