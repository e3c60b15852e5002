"""Cases of golden.py: fits and answers of every estimator, files, exports."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from golden_tables import (
    CASES,
    CYLINDERS,
    EXACT,
    FEW_KINDS,
    FLOW,
    FLOW_NAMES,
    IRIS,
    IRIS_LABELS,
    IRIS_SCALED,
    KINDS,
    POINTS,
    SURFACE,
    SURFACE_NAMES,
    THREE,
    TWO,
    WEIGHTS,
    WINE,
    WINE_LABELS,
    WORDS,
    beside,
    case,
    circle,
    gas,
    motion,
    rows,
)
from golden_values import plain
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import vanishing
from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    Blocks,
    BuchbergerMoller,
    ConservedQuantities,
    ContrastiveVanishing,
    L1SquaredHingeSVC,
    LawFinder,
    Moments,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
    VanishingOutlierDetector,
    check_law,
)

__all__ = ["CASES"]
ANSWERS = ("transform", "predict", "predict_proba", "decision_function", "score_samples")
ANSWERS += ("p_values",)


def answers(model, X):
    """Return what a model says of rows, by all its methods."""
    found = {}
    for name in ANSWERS:
        if hasattr(model, name):
            found[name] = attempt(getattr(model, name), X)
    if hasattr(model, "get_feature_names_out"):
        found["names"] = attempt(model.get_feature_names_out)
    return found


def attempt(function, *arguments, **options):
    """Return a result, or the error, so that one of several does not hide the others."""
    try:
        return plain(function(*arguments, **options))
    except Exception as error:
        return [type(error).__name__, str(error)]


def fit_and_ask(model, X, *arguments, asked=None, **options):
    """Fit; return what was found, and what is said of rows."""
    model = clone(model).fit(X, *arguments, **options)
    return {"model": model, **answers(model, X if asked is None else asked)}


# -- Constructions --------------------------------------------------------------------------------

CONSTRUCTIONS = {
    **{
        f"oavi {oracle} {border}": OAVI(0.002, oracle=oracle, border=border, max_degree=4)
        for oracle in vanishing.oracles.ORACLES
        for border in ("gb", "bb")
    },
    **{
        f"oavi certify={certify} refit={refit}": OAVI(
            0.002, oracle="omp", certify=certify, refit=refit
        )
        for certify in (False, True)
        for refit in (False, True)
    },
    "oavi pcg without refit": OAVI(0.002, refit=False),
    "oavi small ball": OAVI(0.002, tau=2.0),
    "oavi pearson": OAVI(0.002, feature_order="pearson"),
    "oavi reversed pearson": OAVI(0.002, feature_order="rev_pearson"),
    "oavi few terms": OAVI(0.0002, max_terms=5),
    "oavi tiny psi": OAVI(1e-9, max_degree=2),
    "oavi psi 0": OAVI(0, max_degree=3),
    "oavi signed in chunks": OAVI(0.002, absolute=False, chunk_size=17),
    "abm coefficients": ABM(0.002, max_degree=4),
    "abm gradient": ABM(0.002, normalization="gradient", max_degree=4),
    "abm bb": ABM(0.002, border="bb", max_degree=3, feature_order="pearson"),
    "avi": AVI(0.002, max_degree=3),
    "avi gb": AVI(0.002, border="gb", max_terms=9),
    "vca gradient": VCA(0.002, max_degree=3),
    "vca l2": VCA(0.05, normalization="l2", max_degree=3),
    "contrastive": ContrastiveVanishing(max_degree=2),
}
for _name, _model in CONSTRUCTIONS.items():
    case(f"fit/surface/{_name}", _model, SURFACE, asked=SURFACE[:9])(fit_and_ask)
    case(f"fit/weights/{_name}", _model, SURFACE, asked=SURFACE[:9], sample_weight=WEIGHTS)(
        fit_and_ask
    )
for _name in ("oavi pcg gb", "oavi ls bb", "oavi psi 0", "abm coefficients", "avi", "vca gradient"):
    case(f"fit/exact/{_name}", CONSTRUCTIONS[_name], EXACT, asked=SURFACE[:9])(fit_and_ask)
    case(f"fit/iris/{_name}", CONSTRUCTIONS[_name], IRIS_SCALED, asked=IRIS_SCALED[:9])(fit_and_ask)


def _of_kind(model, kind, table, labels=None, weight=None):
    given = {"sample_weight": beside(kind, weight)} if weight is not None else {}
    labels = () if labels is None else (beside(kind, labels),)
    return fit_and_ask(model, rows(kind, table), *labels, **given)


for _name in ("oavi pcg gb", "oavi omp bb", "oavi tiny psi", "abm coefficients", "avi"):
    _kinds = KINDS if _name == "oavi pcg gb" else ["float32", *FEW_KINDS]
    for _kind in _kinds:
        case(f"fit/kinds/{_name}/{_kind}", CONSTRUCTIONS[_name], _kind, SURFACE)(_of_kind)
for _kind in KINDS:
    _oavi = CONSTRUCTIONS["oavi pearson"]
    case(f"fit/kinds/weights/{_kind}", _oavi, _kind, SURFACE, weight=WEIGHTS)(_of_kind)
for _kind in ("float32", *FEW_KINDS):
    case(f"fit/kinds/vca/{_kind}", VCA(0.002), _kind, SURFACE)(_of_kind)


@case("fit/kinds/many rows of another device")
def many_on_a_device():
    # More than are taken to the CPU at once.
    table = np.tile(SURFACE, (190, 1)) + np.linspace(0, 1e-3, 190 * len(SURFACE))[:, None]
    return fit_and_ask(OAVI(0.002), rows("other device", table))


def _transform(fit_kind, kind):
    model = OAVI(0.002).fit(rows(fit_kind, SURFACE))
    return model.transform(rows(kind, SURFACE))


for _kind in KINDS:
    case(f"transform/of an array/{_kind}", "array", _kind)(_transform)
    case(f"transform/of a frame/{_kind}", "frame", _kind)(_transform)


def _set_output(output, kind):
    model = OAVI(0.002).set_output(transform=output).fit(rows("frame", SURFACE))
    return model.transform(rows(kind, SURFACE))


for _output in ("pandas", "polars", "default"):
    for _kind in ("frame", "polars", "array"):
        case(f"transform/set_output/{_output} of {_kind}", _output, _kind)(_set_output)


def _path(model, kind="array", weight=None):
    psis = [0.02, 0.002, 0.0002]
    given = {} if weight is None else {"sample_weight": beside(kind, weight)}
    return list(clone(model).path(rows(kind, SURFACE), psis, **given))


for _model in (OAVI(), OAVI(oracle="ls", border="bb"), ABM(), AVI(max_degree=3), VCA()):
    _name = f"{type(_model).__name__} {getattr(_model, 'border', '')}".strip()
    case(f"path/{_name}/array", _model)(_path)
    case(f"path/{_name}/weights", _model, weight=WEIGHTS)(_path)
    case(f"path/{_name}/blocks", _model, "blocks")(_path)


# -- Exact points, moments ------------------------------------------------------------------------

for _border in ("gb", "bb"):
    case(f"exact/points/{_border}", BuchbergerMoller(border=_border), POINTS)(
        lambda model, points: clone(model).fit(points)
    )
case("exact/points/max_degree", BuchbergerMoller(max_degree=1), POINTS)(
    lambda model, points: clone(model).fit(points)
)


def _moments(weight=None, degree=3):
    moments = Moments(3, degree, feature_names=SURFACE_NAMES)
    for part in (slice(0, 50), slice(50, None)):
        moments.update(SURFACE[part], None if weight is None else weight[part])
    return moments


@case("moments/sums")
def moments_sums():
    moments = _moments(WEIGHTS)
    moments.save("moments.json")
    again = Moments.load("moments.json")
    same = OAVI(0.002).fit_moments(again)
    return {"weight": moments.total_weight, "file": Path("moments.json").read_text(), "fit": same}


@case("moments/noise")
def moments_noise():
    table = circle(n_rows=2000).to_numpy()
    moments = Moments(2, 3).update(table)
    noise = moments.estimate_noise(return_std=True)
    debiased = moments.debiased(0.02)
    fits = [OAVI(0.02, max_degree=2, oracle="ls").fit_moments(m) for m in (moments, debiased)]
    bars = vanishing.error_bars(fits[0].generators_[-1], moments, noise=0.02)
    return {"noise": noise, "ratio": moments.estimate_noise([1, 2]), "fits": fits, "bars": bars}


for _name in ("oavi pcg gb", "oavi ls bb", "oavi tiny psi", "abm coefficients", "abm bb"):
    case(f"moments/fit/{_name}", CONSTRUCTIONS[_name])(
        lambda model: clone(model).set_params(max_degree=3).fit_moments(_moments(WEIGHTS))
    )


# -- Classification -------------------------------------------------------------------------------

FEATURES = {
    "default": VanishingFeatures(),
    "oavi": VanishingFeatures(OAVI(0.002, max_degree=3)),
    "vca": VanishingFeatures(VCA(0.01, max_degree=2)),
    "contrastive": VanishingFeatures(ContrastiveVanishing()),
}
for _name, _model in FEATURES.items():
    case(f"features/{_name}/array", _model, CYLINDERS, WORDS, asked=CYLINDERS[:9])(fit_and_ask)
    for _kind in FEW_KINDS:
        case(f"features/{_name}/{_kind}", _model, _kind, CYLINDERS, THREE, WEIGHTS)(_of_kind)
case("features/path/array")(
    lambda: list(VanishingFeatures(OAVI()).path(CYLINDERS, THREE, psis=[0.01, 0.002]))
)

CLASSIFIERS = {
    "default": VanishingClassifier(),
    "oavi C 10": VanishingClassifier(OAVI(0.002, max_degree=3), C=10.0),
    "psi": VanishingClassifier(psi=0.01),
    "abm": VanishingClassifier(ABM(0.002, max_degree=3)),
    "vca": VanishingClassifier(VCA(0.01, max_degree=2)),
    "contrastive": VanishingClassifier(ContrastiveVanishing()),
    "unscaled": VanishingClassifier(scale=False),
    "quantile": VanishingClassifier(scale="quantile"),
    "log": VanishingClassifier(scale="log"),
    "standard": VanishingClassifier(scale=StandardScaler()),
    "not clipped": VanishingClassifier(clip=False),
    "balanced": VanishingClassifier(class_weight="balanced"),
    "logistic": VanishingClassifier(final_estimator=LogisticRegression()),
}


def _classify(model, X, y, **options):
    model = clone(model).fit(X, y, **options)
    found = {"model": model, **answers(model, X[::9]), "score": model.score(X, y)}
    found["explain"] = attempt(model.explain, X[:4])
    return {**found, "table": attempt(model.explain, X[:2], table=True)}


for _name, _model in CLASSIFIERS.items():
    case(f"classifier/iris/{_name}", _model, IRIS, IRIS_LABELS)(_classify)
    case(f"classifier/words/{_name}", _model, CYLINDERS, WORDS, sample_weight=WEIGHTS)(_classify)
case("classifier/other/wine", VanishingClassifier(C=10.0), WINE, WINE_LABELS)(_classify)
case("classifier/other/two", VanishingClassifier(), CYLINDERS, TWO)(_classify)
case(
    "classifier/other/weights", VanishingClassifier(class_weight={0: 2.0, 1: 1.0}), CYLINDERS, TWO
)(_classify)
case(
    "classifier/other/pipeline",
    make_pipeline(MinMaxScaler(), VanishingClassifier(scale=False)),
    IRIS,
    IRIS_LABELS,
)(fit_and_ask)
for _name in ("default", "quantile", "log", "not clipped", "logistic", "contrastive"):
    for _kind in KINDS if _name == "default" else FEW_KINDS:
        _model = CLASSIFIERS[_name]
        case(f"classifier/kinds/{_name}/{_kind}", _model, _kind, CYLINDERS, THREE)(_of_kind)
for _kind in FEW_KINDS:
    _default = CLASSIFIERS["default"]
    case(f"classifier/kinds/weights/{_kind}", _default, _kind, CYLINDERS, WORDS, WEIGHTS)(_of_kind)


def _predict(kind):
    model = VanishingClassifier().fit(rows("frame", CYLINDERS), WORDS)
    return answers(model, rows(kind, CYLINDERS))


for _kind in KINDS:
    case(f"classifier/predict/{_kind}", _kind)(_predict)

SEARCHES = {
    "default": VanishingClassifierCV(),
    "grid": VanishingClassifierCV(OAVI(max_degree=3), psis=(0.05, 0.005), Cs=(1.0, 10.0), cv=3),
    "scoring": VanishingClassifierCV(
        psis=(0.01,), Cs=(1.0, 100.0), scoring="balanced_accuracy", scale=True, cv=4
    ),
    "balanced": VanishingClassifierCV(psis=(0.01,), Cs=(1.0,), class_weight="balanced", clip=False),
    "abm": VanishingClassifierCV(ABM(max_degree=2), psis=(0.01,), Cs=(1.0, 10.0)),
}
for _name, _model in SEARCHES.items():
    case(f"search/words/{_name}", _model, CYLINDERS, WORDS)(_classify)
case("search/iris/default", SEARCHES["default"], IRIS, IRIS_LABELS)(_classify)
case("search/weights/grid", SEARCHES["grid"], CYLINDERS, TWO, sample_weight=WEIGHTS)(_classify)
for _kind in FEW_KINDS:
    case(f"search/kinds/{_kind}", SEARCHES["grid"], _kind, CYLINDERS, THREE)(_of_kind)

for _name, _svm in {
    "default": L1SquaredHingeSVC(),
    "balanced": L1SquaredHingeSVC(C=10.0, class_weight="balanced"),
    "no intercept": L1SquaredHingeSVC(fit_intercept=False, tol=1e-6),
    "starved": L1SquaredHingeSVC(max_iter=2, tol=1e-10),
}.items():
    case(f"svm/iris/{_name}", _svm, IRIS_SCALED, IRIS_LABELS)(fit_and_ask)
    case(f"svm/weights/{_name}", _svm, CYLINDERS, TWO, sample_weight=WEIGHTS)(fit_and_ask)


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
case("laws/target/feynman")(
    lambda: _laws(LawFinder(), *_feynman(vanishing.datasets.feynman("I.12.1", 200, random_state=0)))
)


def _feynman(bunch):
    return bunch.data, bunch.target


for _kind in KINDS:
    case(
        f"laws/kinds/target/{_kind}", LawFinder(max_degree=2), _kind, SURFACE[:, :2], SURFACE[:, 2]
    )(_of_kind)
for _kind in FEW_KINDS:
    case(f"laws/kinds/weights/{_kind}", LawFinder(max_degree=2), _kind, SURFACE, None, WEIGHTS)(
        _of_kind
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
    case(f"outliers/kinds/{_kind}", DETECTOR, _kind, FLOW)(_of_kind)
for _kind in FEW_KINDS:
    case(f"outliers/kinds/weights/{_kind}", DETECTOR, _kind, FLOW, None, FLOW_WEIGHTS)(_of_kind)


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


@cache
def _mover():
    table, groups = motion()
    return ConservedQuantities(2).fit(table, groups=groups)


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


# -- Files, exports, inspection -------------------------------------------------------------------

MODELS = {
    "oavi": lambda: OAVI(0.002).fit(pd.DataFrame(SURFACE, columns=SURFACE_NAMES)),
    "abm": lambda: ABM(0.002).fit(SURFACE),
    "avi": lambda: AVI(0.002, max_degree=3).fit(SURFACE),
    "vca": lambda: VCA(0.002).fit(SURFACE),
    "exact": lambda: BuchbergerMoller().fit(POINTS),
    "contrastive": lambda: VanishingClassifier(ContrastiveVanishing()).fit(IRIS, IRIS_LABELS),
    "features": lambda: VanishingFeatures().fit(CYLINDERS, WORDS),
    "classifier": lambda: VanishingClassifier(C=10.0).fit(IRIS, IRIS_LABELS),
    "quantile": lambda: VanishingClassifier(scale="quantile").fit(CYLINDERS, WORDS),
    "log": lambda: VanishingClassifier(scale="log").fit(CYLINDERS, TWO),
    "two": lambda: VanishingClassifier(OAVI(0.01)).fit(CYLINDERS, TWO),
    "logistic": lambda: CLASSIFIERS["logistic"].fit(IRIS, IRIS_LABELS),
    "search": lambda: clone(SEARCHES["grid"]).fit(CYLINDERS, WORDS),
    "svm": lambda: L1SquaredHingeSVC().fit(IRIS_SCALED, IRIS_LABELS),
    "pipeline": lambda: make_pipeline(MinMaxScaler(), OAVI()).fit(IRIS),
    "laws": lambda: LawFinder(max_degree=3, units=GAS_UNITS).fit(*gas()),
    "law": lambda: check_law("p*V = R*n*T", *gas()),
    "laws of all": lambda: LawFinder(max_degree=2).fit(circle()),
    "detector": lambda: clone(DETECTOR).fit(pd.DataFrame(FLOW, columns=FLOW_NAMES)),
    "motion": _mover,
    "quantity": lambda: _mover().quantities_[0],
}
ROWS = {"oavi": SURFACE, "abm": SURFACE, "avi": SURFACE, "vca": SURFACE, "detector": FLOW}
ROWS |= dict.fromkeys(["features", "quantile", "log", "two", "search"], CYLINDERS)
ROWS |= {"laws": gas()[0], "motion": motion()[0], "svm": IRIS_SCALED}


def _file(name):
    model = MODELS[name]()
    vanishing.save(model, "model.json")
    document = json.loads(Path("model.json").read_text())
    del document["sha256"]  # of the rest
    again = vanishing.load("model.json")
    asked = ROWS.get(name, IRIS)[:9]
    return {"file": document, "again": again, "answers": answers(again, asked)}


def _export(name, language):
    return getattr(vanishing.export, f"to_{language}")(MODELS[name]())


def _notebook(name):
    """Return how a model looks in a notebook, without scikit-learn's diagram."""
    return re.sub(r"<body>.*?</body>", "", MODELS[name]()._repr_html_(), flags=re.DOTALL)


for _name in MODELS:
    case(f"files/model/{_name}", _name)(_file)
    for _language in ("python", "c", "sql"):
        case(f"export/{_language}/{_name}", _name, _language)(_export)
    case(f"html/notebook/{_name}", _name)(_notebook)

for _name in ("oavi", "abm", "vca", "features", "classifier", "search", "log", "two"):
    case(f"bounds/of/{_name}")(lambda name=_name: vanishing.bounds.of(MODELS[name]()))
case("bounds/rows/classifier")(
    lambda: [vanishing.bounds.of(MODELS["two"](), CYLINDERS, TWO, rho=r) for r in (None, 1)]
)
case("bounds/rows/oavi")(lambda: vanishing.bounds.of(MODELS["oavi"](), SURFACE, delta=0.1))

inspection = vanishing.inspection
for _name in ("features", "classifier", "search", "log", "pipeline"):
    _X = ROWS.get(_name, IRIS)
    case(f"inspection/anatomy/{_name}")(lambda name=_name: inspection.anatomy(MODELS[name]()))
    case(f"inspection/importances/{_name}")(
        lambda name=_name, X=_X: inspection.importances(MODELS[name](), X)
    )
case("inspection/laws/anatomy")(lambda: inspection.law_anatomy(MODELS["laws"]()))
case("inspection/laws/rows")(lambda: inspection.law_rows(MODELS["law"](), *gas()))
case("inspection/laws/unexplained")(
    lambda: inspection.unexplained(inspection.law_rows(MODELS["law"](), *gas()))
)
case("inspection/laws/constants")(lambda: inspection.constants_of(MODELS["law"]()))
case("inspection/outliers/rows")(
    lambda: inspection.outlier_rows(
        MODELS["detector"](), pd.DataFrame(FLOW, columns=FLOW_NAMES), top=3
    )
)
case("inspection/motion/rows")(lambda: inspection.motion_rows(_mover(), *motion()))
case("blocks/file/csv")(lambda: _blocks_of_a_file("csv"))
case("blocks/file/parquet")(lambda: _blocks_of_a_file("parquet"))


def _blocks_of_a_file(kind):
    table = pd.DataFrame(CYLINDERS, columns=SURFACE_NAMES).assign(label=WORDS)
    getattr(table, f"to_{kind}")(f"table.{kind}", index=False)
    read = getattr(Blocks, f"from_{kind}")
    labelled = read(f"table.{kind}", target="label", rows=50)
    model = VanishingClassifier().fit(labelled)
    some = read(f"table.{kind}", columns=["c", "a"], rows=50)
    return {"model": model, "labelled": list(labelled), "fit": OAVI(0.01).fit(some), "some": some}
