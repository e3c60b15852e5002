"""What a search has found: the attributes that say so, and how they are saved."""

from typing import Any, NamedTuple

import numpy as np

from vanishing.constructions.contrastive import ContrastiveVanishing
from vanishing.constructions.oavi import OAVI
from vanishing.learning.classifier import VanishingClassifier
from vanishing.learning.held_out import HeldOutError

_TIMES = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")


class FrontPoint(NamedTuple):
    """A classifier that is better than all simpler ones that a search has looked at.

    Attributes
    ----------
    complexity : float
        How many numbers decide, on average over the folds; see `VanishingClassifier.complexity_`.
    score : float
        Mean score over the folds.
    std : float
        Standard deviation of the scores.
    params : dict
        Parameters of `VanishingClassifier`.
    """

    complexity: float
    score: float
    std: float
    params: dict[str, Any]


def front(results) -> list[FrontPoint]:
    """Return the best of each complexity, as far as it is better than all that is simpler."""
    columns = (results["mean_complexity"], results["mean_test_score"], results["std_test_score"])
    points = [
        FrontPoint(float(size), float(score), float(std), params)
        for size, score, std, params in zip(*columns, results["params"], strict=True)
        if np.isfinite(size) and np.isfinite(score)
    ]
    points.sort(key=lambda point: (point.complexity, -point.score))
    best = -np.inf
    kept = []
    for point in points:
        if point.score > best + 1e-12:
            kept.append(point)
            best = point.score
    return kept


def set_results(model, params, times, splits, sizes, best_index):
    """Set the attributes that describe the search, in the shape of GridSearchCV's.

    ``params`` are the points looked at, ``times`` columns that are kept as they are, and
    ``splits`` scores of shape (n_splits, len(params)), NaN where there is none, as in ``sizes``,
    the mean complexities.
    """
    results = dict(zip(_TIMES, times, strict=True))
    results["mean_complexity"] = sizes
    for name in dict.fromkeys(name for point in params for name in point):
        results[f"param_{name}"] = _column(params, name)
    results["params"] = params
    results |= {f"split{i}_test_score": scores for i, scores in enumerate(splits)}
    mean = results["mean_test_score"] = splits.mean(axis=0)
    results["std_test_score"] = splits.std(axis=0)
    # Sums of the same scores in another order are equal; what was not looked at is last.
    rounded = np.nan_to_num(mean.round(12), nan=-np.inf)
    results["rank_test_score"] = 1 + (rounded > rounded[:, np.newaxis]).sum(axis=1)
    model.cv_results_ = results
    model.n_splits_ = len(splits)
    model.best_index_ = best_index
    model.best_score_ = float(mean[best_index])
    model.best_params_ = params[best_index]


def set_classifier(model, classifier: VanishingClassifier) -> None:
    """Predict by a fitted classifier."""
    model.classifier_ = classifier
    model.n_generators_ = classifier.n_generators_
    model.n_terms_ = classifier.n_terms_
    model.sparsity_ = classifier.sparsity_
    model.complexity_ = classifier.complexity_
    model.temperature_ = classifier.temperature_


def set_held_out(model, error: HeldOutError | None, table: np.ndarray) -> None:
    """Set what rows held out say of the error and of the probabilities."""
    model.error_ = None if error is None else error.error
    model.error_interval_ = None if error is None else (error.low, error.high)
    model.reliability_ = table


def _column(params: list[dict], name: str) -> np.ma.MaskedArray:
    """Return the values of a parameter at all points: the default where a point has none."""
    values = _values(params, name)
    if {type(value) for value in values} in ({float}, {str}):
        return np.ma.MaskedArray(values, mask=False)
    column = np.empty(len(values), dtype=object)  # an estimator may look like a sequence
    column[:] = values
    return np.ma.MaskedArray(column, mask=False)


def _values(params: list[dict], name: str) -> list:
    default = VanishingClassifier().get_params(deep=False)[name]
    return [point.get(name, default) for point in params]


# -- What is saved --------------------------------------------------------------------------------

_EARLIER = ("scale", "transformer", "oracle", "max_degree")  # of files before "params"
_SCORES = ("mean_test_score", "std_test_score", "rank_test_score")


def write_search(writer, model) -> dict:
    """Return the fitted part of a search as JSON values."""
    results = model.cv_results_
    splits = [results[f"split{i}_test_score"] for i in range(model.n_splits_)]
    node = {}
    if hasattr(model, "reliability_"):  # an older file has none
        error = None if model.error_ is None else [model.error_, *model.error_interval_]
        node["held_out"] = {"error": error, "reliability": model.reliability_.tolist()}
    return {
        **writer.classes(model),
        **node,
        "best_index": int(model.best_index_),
        "cv_results": {
            "psi": results["param_psi"].tolist(),
            "C": results["param_C"].tolist(),
            "params": [
                [name, [writer.value(value, name) for value in _values(results["params"], name)]]
                for name in dict.fromkeys(name for point in results["params"] for name in point)
                if name not in ("psi", "C")
            ],
            **{name: writer.plain(results[name]) for name in (*_TIMES, *_SCORES)},
            "mean_complexity": writer.plain(results["mean_complexity"]),
            "split_test_scores": [writer.plain(split) for split in splits],
        },
        "classifier": writer.model(model.classifier_),
    }


def read_search(reader, node, model):
    """Set the fitted part of a search from what `write_search` has returned."""
    best, results, classifier, held_out = reader.fitted(
        model, node, ("best_index", "cv_results", "classifier"), ("held_out",), classes=True
    )
    keys = ("psi", "C", "split_test_scores", *_TIMES, *_SCORES)
    optional = ("params", "mean_complexity", *_EARLIER)
    psis, Cs, splits, *columns = reader.fields(results, "cv_results", keys, optional)
    columns, (listed, sizes, *earlier) = columns[: -len(optional)], columns[-len(optional) :]
    psis = reader.floats(psis, "psi").tolist()
    Cs = reader.floats(Cs, "C", len(psis)).tolist()

    def numbers(node, what):
        reader.allocate(8 * len(psis))
        listed = reader.listed(node, what, len(psis))
        return np.array([reader.measured(value, what) for value in listed])

    columns = [numbers(column, "a column of cv_results") for column in columns]
    sizes = np.full(len(psis), np.nan) if sizes is None else numbers(sizes, "mean_complexity")
    splits = [numbers(split, "a split") for split in reader.listed(splits, "split_test_scores")]
    reader.require(psis and splits, "the search has no results.")
    points = [{"psi": psi, "C": C} for psi, C in zip(psis, Cs, strict=True)]
    if listed is None:
        params = _earlier_params(reader, points, earlier)
    else:
        params = _read_params(reader, points, listed)
    best = reader.integer(best, "best_index", 0, len(psis) - 1)
    set_results(model, params, columns[: len(_TIMES)], np.array(splits), sizes, best)
    reader.require(np.isfinite(model.best_score_), "best_index is that of no score.")
    if held_out is not None:
        set_held_out(model, *_read_held_out(reader, held_out))
    set_classifier(model, reader.model(classifier, VanishingClassifier))
    same = model.classifier_.n_features_in_ == model.n_features_in_
    same &= np.array_equal(model.classifier_.classes_, model.classes_)
    reader.require(same, "the classifier is of other columns or classes.")


def _read_held_out(reader, node) -> tuple[HeldOutError | None, np.ndarray]:
    error, table = reader.fields(node, "held_out", ("error", "reliability"))
    table = reader.table(table, "reliability", 3)
    shares = table[:, :2]
    reader.require(len(table) and (shares >= 0.0).all() and (shares <= 1.0).all(), "a share.")
    if error is not None:
        error = HeldOutError(*reader.floats(error, "error", 3).tolist())
        ordered = 0.0 <= error.low <= error.error <= error.high <= 1.0
        reader.require(ordered, "error is not in its interval.")
    return error, table


def _read_params(reader, points: list[dict], listed) -> list[dict]:
    """Return the points with the other parameters that they have."""
    known = VanishingClassifier().get_params(deep=False)
    for entry in reader.listed(listed, "params"):
        name, values = reader.listed(entry, "a parameter", 2)
        reader.require(name in known and name not in points[0], "params has another parameter.")
        for point, value in zip(points, reader.listed(values, name, len(points)), strict=True):
            if value is not None:  # the default
                point[name] = reader.value(value)
    for point in points:
        VanishingClassifier(**point).check_parameters()
    return points


def _earlier_params(reader, points: list[dict], columns) -> list[dict]:
    """Return the points of a file whose transformers are names, with an oracle or a degree."""
    columns = [
        [None] * len(points) if column is None else reader.listed(column, name, len(points))
        for name, column in zip(_EARLIER, columns, strict=True)
    ]
    for point, scale, transformer, oracle, degree in zip(points, *columns, strict=True):
        if scale is not None:
            point["scale"] = scale
        if transformer == "contrastive":
            point["transformer"] = ContrastiveVanishing(max_degree=degree, max_terms=None)
        elif oracle is not None:
            point["transformer"] = OAVI(oracle=oracle)
        VanishingClassifier(**point).check_parameters()
    return points
