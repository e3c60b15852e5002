"""Cases of golden.py: what estimators print while they work, and rows that are made."""

import contextlib
import io
import re

from sklearn.base import clone

from golden_cases.tables import CYLINDERS, SURFACE, THREE, case, circle, motion
from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    ConservedQuantities,
    LawFinder,
    VanishingClassifierCV,
    datasets,
)


def _printed(model, *rows, **options):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        clone(model).set_params(verbose=1).fit(*rows, **options)
    return re.sub(r"\d+(\.\d+)? m?s\b", "TIME", out.getvalue())


for _model in (OAVI(0.002), ABM(0.002), AVI(0.002, max_degree=2), VCA(0.002)):
    case(f"printed/{type(_model).__name__}/verbose", _model, SURFACE)(_printed)
case("printed/LawFinder/target", LawFinder(max_degree=2), SURFACE[:, :2], SURFACE[:, 2])(_printed)
case("printed/LawFinder/all columns", LawFinder(max_degree=2), circle())(_printed)
case(
    "printed/ConservedQuantities/verbose", ConservedQuantities(2), motion()[0], groups=motion()[1]
)(_printed)
case(
    "printed/VanishingClassifierCV/verbose",
    VanishingClassifierCV(psis=(0.05, 0.005), Cs=(1.0,)),
    CYLINDERS,
    THREE,
)(_printed)

case("datasets/made/circle")(lambda: datasets.make_circle(50, noise=0.1, random_state=0))
case("datasets/made/sphere")(lambda: datasets.make_sphere(50, random_state=0))
case("datasets/made/two surfaces")(lambda: datasets.make_two_surfaces(50, random_state=0))
case("datasets/made/variety")(lambda: datasets.make_variety(["x0*x1 = 1"], 50, random_state=0))
case("datasets/made/laws")(lambda: sorted(datasets.feynman_laws()))
