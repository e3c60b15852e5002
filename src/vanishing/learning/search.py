"""The search for psi and C by cross-validation."""

import time
from itertools import product
from threading import Lock
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from vanishing._threads import one_blas_thread, spread
from vanishing.checks import check_flag, check_number
from vanishing.constructions.base import all_or_nothing
from vanishing.constructions.engine import Remarks
from vanishing.learning.classifier import VanishingClassifier
from vanishing.learning.default import resolved
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.labels import (
    LabelledRows,
    check_two_classes,
    labelled_rows,
    labels,
    or_constant,
)
from vanishing.learning.pipeline import ScaledRows, fit_parts, scale_rows
from vanishing.learning.prediction import PipelineClassifier
from vanishing.learning.scaling import check_scale
from vanishing.learning.svm import L1SquaredHingeSVC
from vanishing.learning.temperature import learn_temperature
from vanishing.persistence import register
from vanishing.rows.sources import refuse

_TIMES = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")


class VanishingClassifierCV(PipelineClassifier):
    """`VanishingClassifier` with psi and C chosen by cross-validation.

    Nothing is learned from a fold's validation rows: scaling, generators and classifier see the
    other folds only. Features are computed once for all C, and the classifiers of growing C start
    from one another.

    Parameters
    ----------
    transformer : estimator, default=None
        Constructs the generators of a class, and has a parameter ``psi``; None means ``OAVI()``.
    psis, Cs : sequence of float
        The grid. Of equal scores the first psi and the smallest C win.
    cv : int, splitter or iterable, default=3
        As in scikit-learn; an integer means stratified folds.
    scoring : str, callable or None, default=None
        As in scikit-learn; None means accuracy.
    scale, clip :
        As in `VanishingClassifier`.
    n_jobs : int, default=None
        Threads over folds and psis.
    verbose : int, default=0
        Print a line for each fold and psi that is done.

    Attributes
    ----------
    best_params_ : dict
        {"psi": ..., "C": ...}.
    best_score_ : float
        Mean score of the best parameters over the folds.
    best_index_ : int
        Their place in `cv_results_`.
    cv_results_ : dict of arrays
        As of scikit-learn's GridSearchCV: ``param_psi``, ``param_C``, ``params``,
        ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``, ``rank_test_score``,
        and times.
    classifier_ : VanishingClassifier
        Fitted to all rows with the best parameters.
    n_generators_, n_terms_, sparsity_, generators_ :
        Those of `classifier_`.
    temperature_ : float or None
        By which decision values are divided to be probabilities, learned from the decision values
        of the folds' validation rows.
    n_splits_ : int
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import VanishingClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VanishingClassifierCV(psis=(0.01, 0.001), Cs=(1.0, 10.0)).fit(X, y)
    >>> sorted(model.best_params_)
    ['C', 'psi']
    """

    def __init__(
        self,
        transformer=None,
        *,
        psis=(0.1, 0.05, 0.01, 0.005, 0.001, 0.0005),
        Cs=(0.1, 1.0, 10.0),
        cv=3,
        scoring=None,
        scale=True,
        clip=False,
        n_jobs=None,
        verbose=0,
    ):
        self.transformer = transformer
        self.psis = psis
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.scale = scale
        self.clip = clip
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y=None, sample_weight=None):
        """Choose psi and C by cross-validation, and fit to all rows with them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in fits and in scores.

        Returns
        -------
        self : VanishingClassifierCV
        """
        return search(self, X, y, sample_weight)

    def check_parameters(self):
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_scale(self.scale)
        check_flag("clip", self.clip)
        VanishingFeatures(self.transformer).check_parameters()
        self.grid()

    def grid(self) -> tuple[list[float], list[float]]:
        """Return the values of psi and C to try, those of C in growing order."""
        grid = []
        for name in ("psis", "Cs"):
            try:
                values = [float(value) for value in getattr(self, name)]
            except (TypeError, ValueError):
                raise TypeError(
                    f"{name} must be a sequence of numbers; got {getattr(self, name)!r}."
                ) from None
            if not values:
                raise ValueError(f"{name} is empty: give at least one value to try.")
            grid.append(values)
        for C in grid[1]:
            check_number("every C of Cs", C, low=0, low_open=True)
        for psi in grid[0]:
            check_number("every psi of psis", psi, low=0, high=1, high_open=True)
        return grid[0], sorted(grid[1])

    def _store(self, params, times, splits):
        """Set the attributes that describe the search, in the shape of GridSearchCV's.

        ``params`` are the points of the grid, ``times`` columns that are kept as they are, and
        ``splits`` scores of shape (n_splits, len(params)).
        """
        found = dict(zip(_TIMES, times, strict=True))
        for name in ("psi", "C"):
            found[f"param_{name}"] = np.ma.MaskedArray(
                [p[name] for p in params], mask=np.zeros(len(params), dtype=bool)
            )
        found["params"] = params
        found |= {f"split{i}_test_score": scores for i, scores in enumerate(splits)}
        mean = found["mean_test_score"] = splits.mean(axis=0)
        found["std_test_score"] = splits.std(axis=0)
        rounded = mean.round(12)  # sums of the same scores in another order are equal
        found["rank_test_score"] = 1 + (rounded > rounded[:, np.newaxis]).sum(axis=1)
        self.cv_results_ = found
        self.n_splits_ = len(splits)
        self.best_index_ = int(np.argmax(rounded))
        self.best_score_ = float(mean[self.best_index_])
        self.best_params_ = params[self.best_index_]

    def _adopt(self, classifier: VanishingClassifier):
        """Predict by a fitted classifier."""
        self.classifier_ = classifier
        self.n_generators_ = classifier.n_generators_
        self.n_terms_ = classifier.n_terms_
        self.sparsity_ = classifier.sparsity_
        self.temperature_ = classifier.temperature_

    @property
    def _fitted(self):
        return self.classifier_


# -- The search -----------------------------------------------------------------------------------


class _Fold(NamedTuple):
    """One split: scaled training rows, and validation rows as they are."""

    train: ScaledRows
    test: LabelledRows


class _Trial(NamedTuple):
    """What one fold and one psi give, for all C."""

    values: list[np.ndarray]  # decision values of the validation rows
    scores: list[float]
    fit_times: list[float]
    score_times: list[float]
    problems: list[str]


def search(
    model: VanishingClassifierCV, X, y, sample_weight=None, *, on_step=None
) -> VanishingClassifierCV:
    """Fit a `VanishingClassifierCV`.

    Parameters
    ----------
    model : VanishingClassifierCV
    X, y, sample_weight :
        As its `fit` takes them.
    on_step : callable, default=None
        Called as ``on_step(done, total)`` after each fold and psi, maybe from another thread.

    Returns
    -------
    model : VanishingClassifierCV
    """
    model.check_parameters()
    refuse(model, X)
    psis, Cs = model.grid()
    with all_or_nothing(model):
        rows = labelled_rows(model, X, y, sample_weight)
        check_two_classes(rows.classes)
        splits = list(check_cv(model.cv, y, classifier=True).split(rows.X, y))
        model.n_splits_ = len(splits)
        folds = [_fold(model, rows, *split) for split in splits]
        done, lock = 0, Lock()

        def run(point):
            nonlocal done
            psi, i = point
            start = time.perf_counter()
            trial = _try(model, folds[i], psi, Cs)
            with lock:
                done += 1
            if on_step is not None:
                on_step(done, len(folds) * len(psis))
            if model.verbose:
                print(
                    f"[VanishingClassifierCV] {done}/{len(folds) * len(psis)}: psi {psi:g}, fold "
                    f"{i + 1}, best score {max(trial.scores):.4f}, "
                    f"{time.perf_counter() - start:.2f} s"
                )
            return trial

        with one_blas_thread():
            trials = spread(run, list(product(psis, range(len(folds)))), model.n_jobs)
        shape = (len(psis), len(folds), 3, len(Cs))
        table = np.array([trial[1:4] for trial in trials]).reshape(shape).transpose(2, 1, 0, 3)
        scores, *times = table.reshape(3, len(folds), -1)
        times = [summary for part in times for summary in (part.mean(axis=0), part.std(axis=0))]
        model._store([{"psi": psi, "C": C} for psi in psis for C in Cs], times, scores)
        classifier = _classifier(model, **model.best_params_)
        classifier.n_jobs = model.n_jobs
        i, j = divmod(model.best_index_, len(Cs))
        best = trials[i * len(folds) : (i + 1) * len(folds)]
        temperature = _temperature(folds, [trial.values[j] for trial in best])
        remarks = _refit(model, classifier, rows.present(), temperature)
        problems = [problem for trial in trials for problem in trial.problems]
        if problems:
            total = len(trials) * len(Cs)
            said = f"in {len(problems)} of the search's {total} fits; the first says: {problems[0]}"
            remarks = remarks._replace(problems=(*remarks.problems, said))
        remarks.warn()
        return model


def _classifier(model, psi, C) -> VanishingClassifier:
    """Return the classifier that a point of the grid stands for, to be fitted."""
    transformer = clone(resolved(model.transformer)).set_params(psi=psi)
    return VanishingClassifier(transformer, C=C, scale=model.scale, clip=model.clip)


def _temperature(folds: list[_Fold], values: list[np.ndarray]) -> float:
    """Learn the temperature of the best classifier from rows that it was not fitted to."""
    tests = [fold.test for fold in folds]
    y = np.concatenate([test.y for test in tests])
    weights = [np.ones(len(test.y)) if test.weight is None else test.weight for test in tests]
    return learn_temperature(np.concatenate(values), y, np.concatenate(weights))


def _refit(
    model, classifier: VanishingClassifier, rows: LabelledRows, temperature: float
) -> Remarks:
    """Fit the best classifier to all rows."""
    _describe(model, classifier)
    scaled = scale_rows(rows, model.scale, model.clip)
    finals = [L1SquaredHingeSVC(classifier.C)]
    (parts,) = fit_parts(scaled, classifier.transformer, finals, n_jobs=model.n_jobs)
    model._adopt(classifier.adopt(parts, temperature))
    return classifier.remarks(parts)._replace(name=type(model).__name__)


def _describe(model, classifier, named=True):
    """Let a classifier know the columns and classes of the search."""
    classifier.n_features_in_, classifier.classes_ = model.n_features_in_, model.classes_
    if named and hasattr(model, "feature_names_in_"):
        classifier.feature_names_in_ = model.feature_names_in_


def _fold(model, rows: LabelledRows, train, test) -> _Fold:
    # Rows of weight zero count as absent, here as well.
    training, validation = rows.at(train).present(), rows.at(test).present()
    missing = np.setdiff1d(np.arange(len(rows.classes)), training.y)
    if missing.size:
        label = rows.classes.tolist()[missing[0]]
        n_rows = int(np.count_nonzero(rows.present().y == missing[0]))
        remedy = (
            "Add rows of this class, or leave it out."
            if n_rows == 1
            else "Use fewer folds, or a splitter that spreads its rows over the folds."
        )
        raise ValueError(
            f"a training fold has no samples of class {label!r}, which has {n_rows} "
            f"row{'' if n_rows == 1 else 's'} in all. {remedy}"
        )
    if not len(validation.y):
        raise ValueError("a validation fold has no samples. Use fewer folds.")
    return _Fold(scale_rows(training, model.scale, model.clip), validation)


def _try(model, fold: _Fold, psi: float, Cs: list[float]) -> _Trial:
    """Fit to one fold with one psi and all C, and score."""
    classifiers = [_classifier(model, psi, C) for C in Cs]
    trial = _Trial([], [], [], [], [])
    test, values = fold.test, None
    shared = [0.0, 0.0]  # seconds of what serves all C, in fits and in scores
    start = time.perf_counter()
    finals = [L1SquaredHingeSVC(C) for C in Cs]
    fits = fit_parts(fold.train, classifiers[0].transformer, finals)
    for classifier, parts in zip(classifiers, fits, strict=True):
        shared[0] = parts.seconds
        trial.fit_times.append(time.perf_counter() - start)
        start = time.perf_counter()
        if values is None:  # features are evaluated once for all C
            values = or_constant(parts.features.transform(parts.scaling(test.X)))
            shared[1] = time.perf_counter() - start
        trial.values.append(parts.final.decide(values))
        if model.scoring is None:  # accuracy
            predicted = labels(np.arange(len(test.classes)), trial.values[-1])
            score = np.average(predicted == test.y, weights=test.weight)
        else:
            _describe(model, classifier, named=False)  # the rows of a fold have no names
            classifier.adopt(parts).learn_temperature(fold.train.rows)
            score = _score(model.scoring, classifier, test)
        trial.scores.append(float(score))
        trial.problems.extend(parts.problems[:1])
        trial.score_times.append(time.perf_counter() - start)
        start = time.perf_counter()
    for times, seconds in zip((trial.fit_times, trial.score_times), shared, strict=True):
        times[0] -= seconds
        times[:] = [each + seconds / len(Cs) for each in times]
    return trial


def _score(scoring, classifier: VanishingClassifier, test: LabelledRows) -> float:
    """Score with any of scikit-learn's scorers."""
    scorer = check_scoring(classifier, scoring)
    weights = {} if test.weight is None else {"sample_weight": test.weight}
    X = test.X
    return scorer(classifier, X, test.classes[test.y], **weights)


# -- What is saved --------------------------------------------------------------------------------

_SCORES = ("mean_test_score", "std_test_score", "rank_test_score")


def _write(writer, model) -> dict:
    results = model.cv_results_
    splits = [results[f"split{i}_test_score"] for i in range(model.n_splits_)]
    return {
        **writer.classes(model),
        "best_index": int(model.best_index_),
        "cv_results": {
            "psi": [p["psi"] for p in results["params"]],
            "C": [p["C"] for p in results["params"]],
            **{name: writer.plain(results[name]) for name in (*_TIMES, *_SCORES)},
            "split_test_scores": [writer.plain(split) for split in splits],
        },
        "classifier": writer.model(model.classifier_),
    }


def _read(reader, node, model):
    best, results, classifier = reader.fitted(
        model, node, ("best_index", "cv_results", "classifier"), classes=True
    )
    keys = ("psi", "C", "split_test_scores", *_TIMES, *_SCORES)
    psis, Cs, splits, *columns = reader.fields(results, "cv_results", keys)
    psis = reader.floats(psis, "psi").tolist()
    Cs = reader.floats(Cs, "C", len(psis)).tolist()

    def numbers(node, what):
        reader.allocate(8 * len(psis))
        listed = reader.listed(node, what, len(psis))
        return np.array([reader.measured(value, what) for value in listed])

    columns = [numbers(column, "a column of cv_results") for column in columns]
    splits = [numbers(split, "a split") for split in reader.listed(splits, "split_test_scores")]
    reader.require(psis and splits, "the search has no results.")
    params = [{"psi": psi, "C": C} for psi, C in zip(psis, Cs, strict=True)]
    model._store(params, columns[: len(_TIMES)], np.array(splits))
    reader.require(best == model.best_index_, "best_index is not that of the best score.")
    model._adopt(reader.model(classifier, VanishingClassifier))
    same = model.classifier_.n_features_in_ == model.n_features_in_
    same &= np.array_equal(model.classifier_.classes_, model.classes_)
    reader.require(same, "the classifier is of other columns or classes.")


register(VanishingClassifierCV, _write, _read)
