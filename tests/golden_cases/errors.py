"""Cases of golden.py: what is said of bad rows, labels, weights and parameters."""

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone

from golden_cases.tables import POINTS, SURFACE, WORDS, beside, case, dd, rows
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

X = SURFACE[:40]
LABELS = WORDS[:40]
GROUPS = np.arange(40) // 10
NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES)
ESTIMATORS = {
    "OAVI": OAVI(0.01, max_degree=2),
    "ABM": ABM(0.01, max_degree=2),
    "AVI": AVI(0.01, max_degree=2),
    "VCA": VCA(0.01, max_degree=2),
    "ContrastiveVanishing": ContrastiveVanishing(),
    "VanishingFeatures": VanishingFeatures(OAVI(0.01, max_degree=2)),
    "VanishingClassifier": VanishingClassifier(OAVI(0.01, max_degree=2)),
    "VanishingClassifierCV": VanishingClassifierCV(OAVI(max_degree=2), psis=(0.01,), Cs=(1.0,)),
    "L1SquaredHingeSVC": L1SquaredHingeSVC(),
    "LawFinder": LawFinder(max_degree=2, functions=()),
    "VanishingOutlierDetector": VanishingOutlierDetector(random_state=0),
    "ConservedQuantities": ConservedQuantities(2),
}
LABELLED = ("VanishingFeatures", "VanishingClassifier", "VanishingClassifierCV")
LABELLED += ("L1SquaredHingeSVC",)


def _with(value, place=(3, 1), dtype=float):
    changed = X.astype(dtype)
    changed[place] = value
    return changed


def _column(values):
    return FRAME.assign(b=values)


def _missing_whole_numbers():
    numbers = pd.array([None, *range(39)], dtype="Int64")
    return FRAME.assign(b=numbers, c=pd.Categorical(["u", "v"] * 20))


def _twice_the_same(table):
    iterator = iter([table])
    return lambda: iterator


# What is wrong with rows: functions, as some can be read once only.
ROWS = {
    "NaN": lambda: _with(np.nan),
    "infinity": lambda: _with(np.inf),
    "huge": lambda: _with(1e200),
    "NaN in a frame": lambda: pd.DataFrame(_with(np.nan), columns=NAMES),
    "complex": lambda: _with(1j, dtype=complex),
    "text": lambda: _with("x", dtype=object),
    "a column of text": lambda: _column(["u", "v"] * 20),
    "a column of dates": lambda: _column(pd.date_range("2024-01-01", periods=40)),
    "a column of time spans": lambda: _column(pd.to_timedelta(np.arange(40), unit="h")),
    "categories and missing numbers": _missing_whole_numbers,
    "missing whole numbers": lambda: _column(pd.array([None, *range(39)], dtype="Int64")),
    "columns of numbers and text as names": lambda: FRAME.rename(columns={"a": 0}),
    "two columns of one name": lambda: FRAME.rename(columns={"a": "b"}),
    "a column named y": lambda: FRAME.rename(columns={"a": "y"}),
    "sparse": lambda: scipy.sparse.csr_matrix(X),
    "one dimension": lambda: X[:, 0],
    "three dimensions": lambda: X[:, :, None],
    "no rows": lambda: X[:0],
    "no columns": lambda: X[:, :0],
    "one row": lambda: X[:1],
    "ragged lists": lambda: [[1.0, 2.0], [3.0]],
    "a word": lambda: "rows",
    "nothing": lambda: None,
    "a dict": lambda: {"a": [1, 2]},
    "an iterator": lambda: iter([X]),
    "no blocks": lambda: Blocks([]),
    "blocks without rows": lambda: Blocks([X[:0], X[:0]]),
    "a block with NaN": lambda: Blocks([X, _with(np.nan)]),
    "a block with text": lambda: Blocks([FRAME, _column(["u", "v"] * 20)]),
    "blocks of other widths": lambda: Blocks([X, X[:, :2]]),
    "blocks of other names": lambda: Blocks([FRAME, FRAME.rename(columns={"a": "z"})]),
    "a block of four": lambda: Blocks([(X, None, None, None)]),
    "a block of one dimension": lambda: Blocks([X, X[:, 0]]),
    "blocks of negative weights": lambda: Blocks([(X, LABELS, -np.ones(40))]),
    "blocks of too few labels": lambda: Blocks([(X, LABELS[:9])]),
    "the same iterator again": lambda: _twice_the_same(X),
    "a function that fails": lambda: lambda: 1 / 0,
    "dask with NaN": lambda: rows("dask", _with(np.nan)),
    "dask of one dimension": lambda: beside("dask", X[:, 0]),
    "dask with text": lambda: dd.from_pandas(_column(["u", "v"] * 20), npartitions=2),
    "device with NaN": lambda: rows("device", _with(np.nan)),
    "device of one dimension": lambda: rows("device", X[:, 0]),
    "device of complex numbers": lambda: rows("device", _with(1j, dtype=complex)),
    "device without rows": lambda: rows("device", X[:0]),
}


def _arguments(name, labels=LABELS, groups=GROUPS):
    """Return what beside rows a fit of an estimator wants."""
    if name in LABELLED:
        return {"y": labels}
    return {"groups": groups} if name == "ConservedQuantities" else {}


def _fit(name, make, **options):
    table = make()
    clone(ESTIMATORS[name]).fit(table, **{**_arguments(name), **options})
    return "accepted"


BESIDE = {
    "too few labels": {"y": LABELS[:9]},
    "labels NaN": {"y": np.where(np.arange(40) == 3, np.nan, 1.0)},
    "labels of two dimensions": {"y": np.ones((40, 2))},
    "labels in a frame": {"y": pd.DataFrame({"label": LABELS})},
    "numbers that are no labels": {"y": X[:, 0]},
    "missing labels": {"y": np.array([None, *LABELS[1:]], dtype=object)},
    "one label": {"y": np.ones(40, dtype=int)},
    "no labels": {"y": None},
    "dask labels": {"y": beside("dask", LABELS)},
    "negative weights": {"sample_weight": -np.ones(40)},
    "weights NaN": {"sample_weight": np.full(40, np.nan)},
    "too few weights": {"sample_weight": np.ones(9)},
    "weights of two dimensions": {"sample_weight": np.ones((40, 2))},
    "weights zero": {"sample_weight": np.zeros(40)},
    "weights of text": {"sample_weight": LABELS},
    "dask weights": {"sample_weight": beside("dask", np.ones(40))},
}
GROUPINGS = {
    "none": None,
    "too few": GROUPS[:9],
    "one": np.zeros(40, dtype=int),
    "each its own": np.arange(40),
    "NaN": np.where(np.arange(40) == 3, np.nan, GROUPS),
    "two dimensions": np.ones((40, 2)),
}

for _name in ESTIMATORS:
    for _bad, _make in ROWS.items():
        case(f"errors/rows/{_name}/{_bad}", _name, _make)(_fit)
    for _bad, _options in BESIDE.items():
        case(f"errors/beside/{_name}/{_bad}", _name, lambda: X, **_options)(_fit)
    for _kind in ("blocks", "dask", "device"):
        for _bad in ("too few labels", "negative weights", "too few weights", "weights zero"):
            _make = lambda kind=_kind: rows(kind, X)  # noqa: E731
            _options = {k: beside(_kind, v) for k, v in BESIDE[_bad].items()}
            case(f"errors/beside/{_name}/{_kind}, {_bad}", _name, _make, **_options)(_fit)
for _bad, _groups in GROUPINGS.items():
    _name = "ConservedQuantities"
    case(f"errors/beside/{_name}/groups: {_bad}", _name, lambda: X, groups=_groups)(_fit)


# -- What fitted models are asked -----------------------------------------------------------------

ASKED = {
    "two columns": lambda: X[:, :2],
    "other names": lambda: FRAME.rename(columns={"a": "z"}),
    "other order": lambda: FRAME[["c", "b", "a"]],
    "NaN": lambda: _with(np.nan),
    "one dimension": lambda: X[0],
    "sparse": lambda: scipy.sparse.csr_matrix(X),
    "no rows": lambda: X[:0],
    "text": lambda: _column(["u", "v"] * 20),
    "an iterator": lambda: iter([X]),
    "blocks of two columns": lambda: Blocks([X[:, :2]]),
    "blocks of other names": lambda: Blocks([FRAME.rename(columns={"a": "z"})]),
    "a block with NaN": lambda: Blocks([X, _with(np.nan)]),
    "dask of two columns": lambda: rows("dask", X[:, :2]),
    "device of two columns": lambda: rows("device", X[:, :2]),
    "device with NaN": lambda: rows("device", _with(np.nan)),
}
METHODS = ("transform", "predict", "predict_proba", "decision_function", "explain")
METHODS += ("score_samples", "p_values")


def _ask(name, method, make):
    given = _arguments(name) if name != "LawFinder" else {"y": X[:, 0] * X[:, 1]}
    model = clone(ESTIMATORS[name]).fit(FRAME, **given)
    answer = getattr(model, method)(make())
    return [block.shape for block in answer] if isinstance(answer, Blocks) else "accepted"


def _unfitted(name, method):
    return getattr(clone(ESTIMATORS[name]), method)(X)


for _name, _model in ESTIMATORS.items():
    for _method in METHODS:
        if not hasattr(_model, _method):
            continue
        case(f"errors/unfitted/{_name}/{_method}", _name, _method)(_unfitted)
        for _bad, _make in ASKED.items():
            case(f"errors/asked/{_name}/{_method}: {_bad}", _name, _method, _make)(_ask)


for _name, _model in ESTIMATORS.items():
    if hasattr(_model, "get_feature_names_out"):
        case(f"errors/names/{_name}/other", _name)(
            lambda name: (
                clone(ESTIMATORS[name])
                .fit(FRAME, **_arguments(name))
                .get_feature_names_out(["q", "r", "s"])
            )
        )


# -- Parameters -----------------------------------------------------------------------------------


def _parameter(name, parameter):
    """Return what is said of values that a parameter cannot have, or can."""
    said = {}
    for value in (-1, 0, np.nan, "nonsense", None, True, [1]):
        model = clone(ESTIMATORS[name])
        try:
            model.set_params(**{parameter: value}).fit(X, **_arguments(name))
            said[repr(value)] = "accepted"
        except Exception as error:
            said[repr(value)] = [type(error).__name__, str(error)]
    return said


for _name, _model in ESTIMATORS.items():
    for _parameter_name in _model.get_params(deep=False):
        if _parameter_name not in ("n_jobs", "random_state", "verbose", "max_time"):
            case(f"errors/parameters/{_name}/{_parameter_name}", _name, _parameter_name)(_parameter)


def _moments(*arguments, update=None, **options):
    moments = Moments(*arguments, **options)
    return moments.total_weight if update is None else moments.update(*update).total_weight


for _bad, (_given, _update) in {
    "no features": ((0, 2), None),
    "no degree": ((3, 0), None),
    "NaN": ((3, 2), [_with(np.nan)]),
    "two columns": ((3, 2), [X[:, :2]]),
    "negative weights": ((3, 2), [X, -np.ones(40)]),
    "one dimension": ((3, 2), [X[0]]),
}.items():
    case(f"errors/other/moments, {_bad}", *_given, update=_update)(_moments)
for _bad, _points in {
    "NaN": [[0, float("nan")]],
    "text": [["a"]],
    "none": [],
    "flat": [1, 2],
}.items():
    case(f"errors/other/exact, {_bad}", _points)(lambda points: BuchbergerMoller().fit(points))
case("errors/other/exact, one point twice", [*POINTS, POINTS[0]])(
    lambda points: BuchbergerMoller().fit(points)
)
for _bad in ("NaN", "a column of text", "a column of dates", "one dimension", "no rows", "sparse"):
    case(f"errors/other/check_law, {_bad}", ROWS[_bad])(lambda make: check_law("c = k*a", make()))
for _bad, _make in {"blocks": "blocks", "dask": "dask", "device": "device"}.items():
    case(f"errors/other/moments of {_bad}", rows(_make, X))(
        lambda X: Moments(3, 2).update(X).total_weight
    )
    case(f"errors/other/partial_fit of {_bad}", rows(_make, X))(
        lambda X: VanishingOutlierDetector(random_state=0).partial_fit(X)
    )
