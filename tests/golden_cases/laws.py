"""Cases of golden.py: laws, outliers and motion."""

import numpy as np
import pandas as pd
from sklearn.base import clone

import vanishing
from golden_cases.asking import answers, attempt, fit_and_ask, fit_kind
from golden_cases.tables import (
    CYLINDERS,
    EXACT,
    FEW_KINDS,
    FLOW,
    FLOW_NAMES,
    IRIS,
    KINDS,
    SURFACE,
    WEIGHTS,
    beside,
    case,
    circle,
    gas,
    motion,
    rows,
)
from vanishing import ConservedQuantities, LawFinder, Moments, VanishingOutlierDetector, check_law

# -- Laws -----------------------------------------------------------------------------------------

GAS_UNITS = {"n": "mol", "T": "K", "V": "m^3", "p": "Pa"}


def _laws(model, X, y=None, **options):
    model = clone(model).fit(X, y, **options)
    found = {"model": model, "laws": [_law(law, X) for law in model.laws_[:2]]}
    if model.target_name_ is not None:
        found |= {"predict": model.predict(X), "score": model.score(X, y)}
    return found


def _law(law, X):
    """Return what a law's methods say."""
    found = {"latex": law.to_latex(), "mathml": law.to_mathml(), "sympy": str(law.to_sympy())}
    found |= {"python": attempt(law.to_python), "residual": attempt(law.residual, X)}
    found |= {f"solve {column}": attempt(law.solve, column) for column in law.columns}
    return {**found, "predict": attempt(law.predict, X)}


FINDER = LawFinder(max_degree=3)
for _name, (_model, _options) in {
    "default": (LawFinder(), {}),
    "noise": (LawFinder(noise=[0.0, 1.0, 0.0, 1000.0], max_degree=3), {}),
    "estimated noise": (LawFinder(noise="estimate", max_degree=3), {}),
    "robust": (LawFinder(robust=True, max_degree=3), {}),
    "units": (LawFinder(units=GAS_UNITS, max_degree=3), {}),
    "homogeneous": (
        LawFinder(units={**GAS_UNITS, "R": "8.314 J/(mol K)"}, homogeneous=True, max_degree=3),
        {},
    ),
    "no functions": (LawFinder(functions=(), n_laws=2), {}),
    "functions": (LawFinder(functions=("log", "sqrt"), max_degree=2), {}),
    "weights": (FINDER, {"sample_weight": np.arange(200) % 4 / 2.0}),
}.items():
    case(f"laws/gas/{_name}", _model, *gas(), **_options)(_laws)
case("laws/all columns/gas", FINDER, gas()[0].assign(p=gas()[1]))(_laws)
case("laws/all columns/circle", LawFinder(max_degree=2), circle())(_laws)
case("laws/all columns/circle, noise", LawFinder(max_degree=2, noise=0.02), circle())(_laws)
case("laws/all columns/circle, robust", LawFinder(max_degree=2, robust=True), circle())(_laws)
case("laws/all columns/exact", LawFinder(max_degree=3), EXACT)(_laws)
case("laws/all columns/nothing", LawFinder(max_degree=2), CYLINDERS[:, :2])(_laws)
case("laws/target/nothing", FINDER, CYLINDERS, SURFACE[:, 0])(_laws)
case("laws/target/surface", FINDER, SURFACE[:, :2], SURFACE[:, 2])(_laws)
for _name, _noise in {"default": None, "number": 0.02, "estimate": "estimate"}.items():
    case(f"laws/noise_/target, {_name}", LawFinder(max_degree=2, noise=_noise))(
        lambda model: clone(model).fit(SURFACE[:, :2], SURFACE[:, 2]).noise_
    )
    case(f"laws/noise_/all columns, {_name}", LawFinder(max_degree=2, noise=_noise))(
        lambda model: clone(model).fit(circle()).noise_
    )
case("laws/target/y as a frame", FINDER, gas()[0], gas()[1].to_frame())(_laws)
case(
    "laws/target/a column named y", FINDER, gas()[0].rename(columns={"V": "y"}), gas()[1].to_numpy()
)(_laws)
case("laws/target/feynman")(
    lambda: _laws(LawFinder(), *_feynman(vanishing.datasets.feynman("I.12.1", 200, random_state=0)))
)


def _feynman(bunch):
    return bunch.data, bunch.target


for _kind in KINDS:
    case(
        f"laws/kinds/target/{_kind}", LawFinder(max_degree=2), _kind, SURFACE[:, :2], SURFACE[:, 2]
    )(fit_kind)
for _kind in FEW_KINDS:
    case(f"laws/kinds/weights/{_kind}", LawFinder(max_degree=2), _kind, SURFACE, None, WEIGHTS)(
        fit_kind
    )
    case(f"laws/kinds/robust/{_kind}", LawFinder(max_degree=2, robust=True), _kind, SURFACE)(
        fit_kind
    )
    case(f"laws/kinds/noise/{_kind}", LawFinder(max_degree=2, noise="estimate"), _kind, SURFACE)(
        fit_kind
    )


def _check(equation, *rows, **options):
    law = check_law(equation, *rows, **options)
    return {"law": law, "methods": _law(law, rows[0])}


for _name, (_equation, _options) in {
    "holds": ("p*V = R*n*T", {}),
    "constant": ("p*V = 8.314*n*T", {}),
    "wrong": ("p*V = R*n", {}),
    "units": ("p*V = R*n*T", {"units": GAS_UNITS}),
    "weights": ("p*V = R*n*T", {"sample_weight": np.arange(200) % 4 / 2.0}),
    "no column": ("p*v = R*n*T", {}),
    "no equation": ("p*V", {}),
    "no formula": ("p*V = = n", {}),
}.items():
    case(f"check_law/gas/{_name}", _equation, *gas(), **_options)(_check)
case("check_law/circle/all columns", "x^2 + y^2 = a*x + b", circle())(_check)
for _kind in FEW_KINDS:
    case(f"check_law/kinds/{_kind}")(
        lambda kind=_kind: check_law(
            "y = a*c0*c1 + b*c0" if "frame" in kind else "y = a*x0*x1 + b*x0",
            rows(kind, SURFACE[:, :2]),
            beside(kind, SURFACE[:, 2]),
        )
    )


# -- Outliers and motion --------------------------------------------------------------------------


def _detect(model, X, **options):
    model = clone(model).set_params(random_state=0).fit(X, **options)
    return {"model": model, **answers(model, X), "explain": model.explain(X[[7, 150]])}


DETECTOR = VanishingOutlierDetector(random_state=0)
FLOW_WEIGHTS = np.arange(300) % 5 / 2.0
for _name, (_model, _options) in {
    "default": (DETECTOR, {}),
    "degree 1": (VanishingOutlierDetector(1), {}),
    "degree 3": (VanishingOutlierDetector(3), {}),
    "contamination": (VanishingOutlierDetector(contamination=0.02), {}),
    "false alarms": (VanishingOutlierDetector(false_alarm_rate=0.1), {}),
    "weights": (DETECTOR, {"sample_weight": FLOW_WEIGHTS}),
}.items():
    case(f"outliers/flow/{_name}", _model, FLOW, **_options)(_detect)
    case(f"outliers/iris/{_name}", _model, np.repeat(IRIS, 2, axis=0), **_options)(_detect)
for _kind in KINDS:
    case(f"outliers/kinds/{_kind}", DETECTOR, _kind, FLOW)(fit_kind)
for _kind in FEW_KINDS:
    case(f"outliers/kinds/weights/{_kind}", DETECTOR, _kind, FLOW, None, FLOW_WEIGHTS)(fit_kind)


@case("outliers/other/partial_fit")
def partial_fit(half_life=100):
    model = VanishingOutlierDetector(half_life=half_life, random_state=0)
    seen = []
    for start in (0, 100, 200):
        part = pd.DataFrame(FLOW[start : start + 100], columns=FLOW_NAMES)
        model.partial_fit(part)
        seen.append([model.offset_, model.n_samples_seen_, [str(law) for law in model.laws_]])
    table = pd.DataFrame(FLOW, columns=FLOW_NAMES)
    held_out = model.p_values(table[:9], calibration=table[9:])
    return {"seen": seen, "model": model, "held out": held_out, **answers(model, table)}


case("outliers/other/partial_fit, no half-life", None)(partial_fit)


@case("outliers/other/fit_moments")
def detector_of_moments():
    moments = Moments(3, 4, feature_names=FLOW_NAMES).update(FLOW)
    model = VanishingOutlierDetector(random_state=0).fit_moments(moments)
    table = pd.DataFrame(FLOW, columns=FLOW_NAMES)
    return {"model": model, **answers(model, table), "explain": model.explain(table[7:8])}


def _move(model, X, groups, **options):
    model = clone(model).fit(X, groups=groups, **options)
    found = {"model": model, **answers(model, X), "score": model.score(X, groups=groups)}
    methods = [[q.to_latex(), str(q.to_sympy()), q.gradient(X)] for q in model.quantities_]
    return {**found, "quantities": methods}


for _name, (_model, _options) in {
    "default": (ConservedQuantities(), {}),
    "noise": (ConservedQuantities(2, noise=0.01), {}),
    "functions": (ConservedQuantities(2, functions={"x": ("cos",)}), {}),
    "few terms": (ConservedQuantities(2, max_terms=1), {}),
    "weights": (ConservedQuantities(2), {"sample_weight": np.arange(360) % 3 / 2.0}),
}.items():
    case(f"motion/noisy/{_name}", _model, *motion(), **_options)(_move)
    case(f"motion/clean/{_name}", _model, *motion(0.0), **_options)(_move)
case("motion/nothing/random", ConservedQuantities(2), FLOW, np.repeat(np.arange(10), 30))(_move)
for _kind in KINDS:
    case(f"motion/kinds/{_kind}")(
        lambda kind=_kind: fit_and_ask(
            ConservedQuantities(2),
            rows(kind, motion()[0].to_numpy()),
            groups=beside(kind, motion()[1]),
        )
    )
case("motion/derivatives/smooth")(
    lambda: vanishing.motion.derivatives(motion()[0], np.tile(np.arange(30.0), 12), motion()[1])
)
