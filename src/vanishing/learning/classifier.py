"""Classification: scaling, generators of each class as features, a sparse linear classifier."""

import time
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from vanishing._threads import one_blas_thread
from vanishing.checks import check_number
from vanishing.constructions.base import all_or_nothing
from vanishing.constructions.oavi import OAVI
from vanishing.inspection.html import HTMLRepresentation
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.labels import check_labelled_rows, check_two_classes
from vanishing.learning.svm import (
    STEPS,
    L1SquaredHingeSVC,
    Look,
    as_columns,
    labels,
    solve,
    solve_in_passes,
    targets,
)
from vanishing.persistence import Savable
from vanishing.rows.device import (
    evaluate_generators,
    is_device_array,
    like,
    namespace,
    to_numpy,
    with_constant,
)
from vanishing.rows.sources import (
    Part,
    Scale,
    adopt_layout,
    check_layout,
    checked_device_array,
    refuse,
    source_of,
    survey,
)


class _Scaling:
    """The scaling learned on training rows: a scikit-learn transformer and the range it gave."""

    def __init__(self, scale, clip: bool):
        self.scale = scale
        self.clip = clip

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        scale = self.scale
        if scale is True:
            self.transformer = MinMaxScaler()
        elif scale is False:
            self.transformer = None
        elif isinstance(scale, str):
            # As many quantiles as there are rows, up to scikit-learn's default.
            self.transformer = QuantileTransformer(
                n_quantiles=min(1000, len(X)), subsample=None, random_state=0
            )
        else:
            self.transformer = clone(scale)
        if self.transformer is not None:
            X = self._checked(self.transformer.fit_transform(X), len(X))
        if self.clip:
            self.low, self.high = X.min(axis=0), X.max(axis=0)
        return X

    def fit_range(self, low: np.ndarray, high: np.ndarray) -> "_Scaling":
        """Learn the scaling from the range of each column: True and False need no more."""
        if not isinstance(self.scale, bool):
            raise TypeError(
                f"scale={self.scale!r} needs the rows in memory: give arrays, or scale=True or "
                "False."
            )
        self.fit_transform(np.vstack([low, high]))
        return self

    def by_columns(self) -> Scale | None:
        """Return the scaling as arithmetic on columns, or None if it is more than that."""
        if not isinstance(self.scale, bool):
            return None
        low, high = (self.low, self.high) if self.clip else (None, None)
        if self.transformer is None:
            return Scale(None, None, low, high)
        return Scale(self.transformer.scale_, self.transformer.min_, low, high)

    def transform(self, X: np.ndarray) -> np.ndarray:
        scale = self.by_columns()
        if scale is not None:
            return scale(X)  # X has been validated
        if self.transformer is not None:
            X = self._checked(self.transformer.transform(X), len(X))
        return np.clip(X, self.low, self.high) if self.clip else X

    def _checked(self, X, n_samples: int) -> np.ndarray:
        X = np.asarray(X)
        if X.ndim != 2 or len(X) != n_samples or X.dtype.kind != "f":
            raise ValueError(
                f"scale={self.scale!r} must turn rows into as many rows of floats; it returned an "
                f"array of shape {X.shape} and dtype {X.dtype}."
            )
        return X


def _check_options(estimator):
    scale = estimator.scale
    if isinstance(scale, str):
        if scale != "quantile":
            raise ValueError(
                "scale must be True, False, 'quantile' or a scikit-learn transformer; got "
                f"{scale!r}."
            )
    elif not isinstance(scale, bool) and not hasattr(scale, "fit_transform"):
        raise TypeError(
            f"scale must be True, False, 'quantile' or a scikit-learn transformer; got {scale!r}."
        )


_LOOK_BYTES = 1 << 25  # features that a pass of the SVM over blocks evaluates at a time


def _or_constant(features):
    """Return the features, or a column of zeros if there are none: the intercept decides."""
    if features.shape[1]:
        return features
    zeros = np.zeros((features.shape[0], 1))
    return like(features, zeros) if is_device_array(features) else zeros


def _final_estimator_has(name):
    def check(self):
        final = self.final_estimator
        return name == "decision_function" if final is None else hasattr(final, name)

    return check


class VanishingClassifier(Savable, HTMLRepresentation, ClassifierMixin, BaseEstimator):
    """Classify by the equations that each class satisfies.

    The paper's pipeline: scale the columns, construct the generators of the approximate vanishing
    ideal of each class, map rows to their absolute values, and separate these by a linear support
    vector machine with l1 penalty, which needs only some of the generators.

    Parameters
    ----------
    transformer : estimator, default=None
        Constructs the generators of a class; None means ``OAVI()``.
    C : float, default=1.0
        Weight of the loss in the linear SVM.
    scale : bool, "quantile" or transformer, default=True
        True scales the columns of the training rows into [0, 1]; "quantile" maps them to their
        quantiles, for heavy-tailed data; any scikit-learn transformer; False leaves them.
    clip : bool, default=False
        Whether to clip scaled columns of new rows to the range they had in training. Polynomials
        grow quickly outside of it.
    final_estimator : classifier, default=None
        Any scikit-learn classifier in place of ``L1SquaredHingeSVC(C)``.
    n_jobs : int, default=None
        Threads over the classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    scaler_ : transformer or None
        The fitted scaling.
    features_ : VanishingFeatures
        The fitted feature map, on scaled rows.
    final_estimator_ : classifier
        The fitted classifier on the features.
    n_generators_, n_terms_ : int
        |G| and |O|, summed over the classes.
    sparsity_ : float
        Share of zeros among the non-leading coefficients of all generators.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has names

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import VanishingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VanishingClassifier(C=10.0).fit(X[::2], y[::2])
    >>> model.predict(X[1:4:2])
    array([0, 0])
    >>> print(model.explain(X[1:2])[0][0]["generator"])
    x3 - 0.08617*x1 - 0.4898
    """

    def __init__(
        self,
        transformer=None,
        *,
        C=1.0,
        scale=True,
        clip=False,
        final_estimator=None,
        n_jobs=None,
    ):
        self.transformer = transformer
        self.C = C
        self.scale = scale
        self.clip = clip
        self.final_estimator = final_estimator
        self.n_jobs = n_jobs

    def fit(self, X, y=None, sample_weight=None):
        """Fit scaling, generators and linear classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            As `OAVI.fit` takes it.
        y : array-like of shape (n_samples,), default=None
            Labels of at least two classes; as `VanishingFeatures.fit` takes them.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        self : VanishingClassifier
        """
        check_number("C", self.C, low=0, low_open=True)
        _check_options(self)
        with all_or_nothing(self):
            source = source_of(X, y, sample_weight)
            if source is not None:
                return self._fit_source(source)
            X, y, weight = check_labelled_rows(self, X, y, sample_weight)
            check_two_classes(self.classes_)
            scaling = _Scaling(self.scale, self.clip)
            X = scaling.fit_transform(X)
            features = VanishingFeatures(self.transformer, n_jobs=self.n_jobs).fit(X, y, weight)
            final = (
                L1SquaredHingeSVC(self.C)
                if self.final_estimator is None
                else clone(self.final_estimator)
            )
            weights = {} if weight is None else {"sample_weight": weight}
            final.fit(_or_constant(features.transform(X)), self.classes_[y], **weights)
            return self._assemble(scaling, features, final)

    def _fit_source(self, source):
        """Fit to rows that are read where they are: nothing but sums over them is kept."""
        if self.final_estimator is not None:
            raise TypeError(
                "final_estimator needs the features of all rows in memory: give arrays, or leave "
                "it out."
            )
        found = survey(source)
        adopt_layout(self, source.layout)
        self.classes_ = found.classes
        check_two_classes(self.classes_)
        scaling = _Scaling(self.scale, self.clip).fit_range(found.low, found.high)
        features = VanishingFeatures(self.transformer, n_jobs=self.n_jobs)
        features._fit_source(source, found, scale=scaling.by_columns(), named=False)

        final = L1SquaredHingeSVC(self.C)
        final.n_features_in_ = max(1, features.n_generators_)
        final.classes_ = self.classes_

        def look(problems, weights, directions):
            question = _Look(
                features,
                scaling.by_columns(),
                self.classes_,
                float(self.C),
                problems,
                weights,
                directions,
            )
            return [Look(*parts) for parts in zip(*source.ask(question, _added), strict=True)]

        n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        final._store(
            solve_in_passes(
                look, final.n_features_in_ + 1, n_problems, tol=final.tol, max_iter=final.max_iter
            )
        )
        return self._assemble(scaling, features, final)

    def _assemble(self, scaling, features, final):
        """Set the fitted attributes from fitted parts."""
        self._scaling = scaling
        self.scaler_ = scaling.transformer
        names = getattr(self, "feature_names_in_", None)
        if names is not None and features.n_features_in_ == self.n_features_in_:
            for transformer in features.transformers_:
                transformer.generators_ = transformer.generators_.renamed(names)
        features.classes_ = self.classes_
        self.features_ = features
        self.final_estimator_ = final
        self.n_generators_ = features.n_generators_
        self.n_terms_ = features.n_terms_
        self.sparsity_ = features.sparsity_
        if self.final_estimator is None:
            self._decisive = self._used_generators()
        return self

    def _used_generators(self):
        """Return for each class the generators that have a weight, and their weights."""
        used = []
        start = 0
        for transformer in self.features_.transformers_:
            weights = self.final_estimator_.coef_[:, start : start + transformer.n_generators_]
            chosen = np.flatnonzero(weights.any(axis=0))
            generators = transformer.generators_.subset(chosen)
            used.append((generators, np.ascontiguousarray(weights[:, chosen].T)))
            start += transformer.n_generators_
        return used

    def _decisive_by_class(self):
        return zip(self.features_.transformers_, self._decisive, strict=True)

    def _scaled(self, X):
        check_is_fitted(self)
        if is_device_array(X):
            return self._scaling.transform(checked_device_array(self, X))
        return self._scaling.transform(
            validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        )

    def _features(self, X):
        return _or_constant(self.features_.transform(self._scaled(X)))

    def _mapped(self, method, X, dtype, one_value=True):
        """Return, lazily, a method of each block if X is blocks or a Dask collection, else None."""
        if is_device_array(X):
            if self.final_estimator is not None:
                refuse(self.final_estimator_, X)
            return None
        source = source_of(X)
        if source is None:
            return None
        check_layout(self, source.layout)
        return source.map(method, None if one_value else len(self.classes_), dtype)

    def _device_scores(self, X):
        """Return the decision values of scaled rows on a device, there."""
        scores = like(X, self.final_estimator_.intercept_)
        for transformer, (generators, weights) in self._decisive_by_class():
            X64 = namespace(X).astype(X, namespace(X).float64)
            values = evaluate_generators(generators, X64, absolute=transformer.absolute)
            scores = scores + values @ like(X, weights)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_final_estimator_has("decision_function"))
    def decision_function(self, X):
        """Return the decision values, of shape (n_samples,) or (n_samples, n_classes).

        Only generators with a weight, and the monomials those need, are evaluated.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray
        """
        check_is_fitted(self)
        mapped = self._mapped(self.decision_function, X, np.float64, len(self.classes_) == 2)
        if mapped is not None:
            return mapped
        if self.final_estimator is not None:
            return self.final_estimator_.decision_function(self._features(X))
        X = self._scaled(X)
        if is_device_array(X):
            return self._device_scores(X)
        scores = np.tile(self.final_estimator_.intercept_, (len(X), 1))
        for transformer, (generators, weights) in self._decisive_by_class():
            scores += generators.combine(X, weights, absolute=transformer.absolute)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        mapped = self._mapped(self.predict, X, self.classes_.dtype)
        if mapped is not None:
            return mapped
        if self.final_estimator is not None:
            return self.final_estimator_.predict(self._features(X))
        scores = self.decision_function(X)
        if not is_device_array(X):
            return labels(self.classes_, scores)
        predicted = labels(self.classes_, to_numpy(scores))
        # No library for devices has text.
        return like(X, predicted) if self.classes_.dtype.kind in "iufb" else predicted

    @available_if(_final_estimator_has("predict_proba"))
    def predict_proba(self, X):
        """Return the class probabilities of a `final_estimator` that has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        mapped = self._mapped(self.predict_proba, X, np.float64, one_value=False)
        if mapped is not None:
            return mapped
        return self.final_estimator_.predict_proba(self._features(X))

    def explain(self, X, *, n_generators=5):
        """Tell which generators decided each prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        n_generators : int, default=5
            How many to tell of, largest contribution first.

        Returns
        -------
        explanations : list of n_samples lists of dict
            With the keys "class" (whose generator it is), "generator" (a `Polynomial` in the
            scaled columns), "value" (of the feature), "weight" and "contribution" (their product:
            to the decision value, with two classes; to that of the predicted class with more).
        """
        check_is_fitted(self)
        if self.final_estimator is not None:
            raise ValueError("explain needs the linear SVM; it knows nothing of a final_estimator.")
        refuse(self, X, "explain")
        X = self._scaled(X)
        scores = np.tile(self.final_estimator_.intercept_, (len(X), 1))
        owners, polynomials, values, weights = [], [], [], []
        for label, (transformer, (generators, part)) in zip(
            self.classes_, self._decisive_by_class(), strict=True
        ):
            evaluated = generators.evaluate(X, absolute=transformer.absolute)
            scores += evaluated @ part
            owners += [label] * len(generators)
            polynomials += list(generators)
            values.append(evaluated)
            weights.append(part)
        values, weights = np.hstack(values), np.vstack(weights)
        explanations = []
        for row, score in zip(values, scores, strict=True):
            weight = weights[:, score.argmax() if len(self.classes_) > 2 else 0]
            contribution = weight * row
            order = np.argsort(-np.abs(contribution), kind="stable")[:n_generators]
            explanations.append(
                [
                    {
                        "class": owners[i],
                        "generator": polynomials[i],
                        "value": float(row[i]),
                        "weight": float(weight[i]),
                        "contribution": float(contribution[i]),
                    }
                    for i in order
                    if contribution[i] != 0.0
                ]
            )
        return explanations


class _Look(NamedTuple):
    """The question of `svm.solve_in_passes` to a block of rows."""

    features: VanishingFeatures
    scale: Scale
    classes: np.ndarray
    C: float
    problems: list[int]
    weights: np.ndarray
    directions: np.ndarray

    def __call__(self, part: Part) -> tuple[np.ndarray, ...]:
        """Return losses, dual sums, gradients and Hessians, an entry a problem each."""
        n_problems, n_columns = self.weights.shape
        shapes = ((len(STEPS),), (), (n_columns,), (n_columns, n_columns))
        found = tuple(np.zeros((n_problems, *shape)) for shape in shapes)
        rows = max(256, _LOOK_BYTES // (8 * n_columns))
        n_samples = part.X.shape[0]
        for start in range(0, n_samples, rows):
            here = slice(start, min(start + rows, n_samples))
            weight = None if part.weight is None else part.weight[here]
            # The survey refuses blocks without labels.
            y = part.y[here]  # type: ignore[index]
            self._add(part.X[here, :], y, weight, found)
        return found

    def _add(self, X, y, weight, found):
        X = self.scale(X)
        xp = namespace(X) if is_device_array(X) else np
        features = with_constant(_or_constant(self.features.transform(X)))
        targets_ = targets(np.searchsorted(self.classes, y), len(self.classes))[self.problems]
        cost = np.full(len(y), self.C) if weight is None else self.C * weight
        weights, directions, signs, cost = (
            values if xp is np else like(X, values)
            for values in (self.weights, self.directions, targets_, cost)
        )
        margins = signs * (weights @ features.T)
        moves = signs * (directions @ features.T)
        losses, dual_sums, gradients, hessians = found
        for p in range(len(self.problems)):
            for s, step in enumerate(STEPS.tolist()):
                slack = _positive(xp, 1.0 - margins[p, :] + (1.0 - step) * moves[p, :])
                losses[p, s] += float(xp.sum(cost * slack * slack))
            slack = _positive(xp, 1.0 - margins[p, :])
            dual = 2.0 * cost * slack
            dual_sums[p] += float(xp.sum(dual))
            gradients[p] -= to_numpy((signs[p, :] * dual) @ features)
            curvature = xp.where(slack > 0.0, 2.0 * cost, xp.zeros_like(cost))
            hessians[p] += to_numpy(features.T @ (features * curvature[:, None]))


def _positive(xp, values):
    return xp.where(values > 0.0, values, xp.zeros_like(values))


def _added(first, second):
    return tuple(a + b for a, b in zip(first, second, strict=True))


class _Fold(NamedTuple):
    """Training and validation rows of one split, and the scaling that the former say."""

    scaling: _Scaling
    X_train: np.ndarray  # scaled
    y_train: np.ndarray
    weight_train: np.ndarray | None
    X_test: np.ndarray
    y_test: np.ndarray
    weight_test: np.ndarray | None


class VanishingClassifierCV(Savable, HTMLRepresentation, ClassifierMixin, BaseEstimator):
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
        _check_options(self)
        refuse(self, X)
        psis, Cs = self._grid()
        with all_or_nothing(self):
            return self._search(X, y, sample_weight, psis, Cs)

    def _search(self, X, y, sample_weight, psis, Cs):
        X_input, y_input = X, y
        X, y, weight = check_labelled_rows(self, X, y, sample_weight, drop=False)
        check_two_classes(self.classes_)
        splits = list(check_cv(self.cv, y_input, classifier=True).split(X, y_input))
        self.n_splits_ = len(splits)
        folds = [self._fold(X, y, weight, *split) for split in splits]

        done = 0

        def run(i, psi):
            nonlocal done
            start = time.perf_counter()
            result = self._scores(folds[i], psi, Cs)
            done += 1
            if self.verbose:
                print(
                    f"[VanishingClassifierCV] {done}/{len(folds) * len(psis)}: psi {psi:g}, fold "
                    f"{i + 1}, best score {max(result[0]):.4f}, {time.perf_counter() - start:.2f} s"
                )
            return result

        with warnings.catch_warnings(), one_blas_thread():
            # No generators at some psi of the grid is a score like any other.
            warnings.filterwarnings("ignore", message="VanishingFeatures: nothing vanishes")
            results = Parallel(n_jobs=self.n_jobs, prefer="threads", require="sharedmem")(
                delayed(run)(i, psi) for psi in psis for i in range(len(folds))
            )
        self._store(results, psis, Cs)
        self.classifier_ = VanishingClassifier(
            self._transformer(self.best_params_["psi"]),
            C=self.best_params_["C"],
            scale=self.scale,
            clip=self.clip,
            n_jobs=self.n_jobs,
        ).fit(X_input, y_input, sample_weight)
        return self

    def _grid(self):
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

    def _transformer(self, psi):
        transformer = OAVI() if self.transformer is None else self.transformer
        return clone(transformer).set_params(psi=psi)

    def _fold(self, X, y, weight, train, test):
        if weight is not None:  # rows of weight zero count as absent, here as well
            train, test = (rows[weight[rows] > 0] for rows in (train, test))
        missing = np.setdiff1d(np.arange(len(self.classes_)), y[train])
        if missing.size:
            raise ValueError(
                f"a training fold has no samples of class {self.classes_[missing[0]]!r}. Use fewer "
                "folds, or a stratified splitter."
            )
        if not len(test):
            raise ValueError("a validation fold has no samples. Use fewer folds.")
        scaling = _Scaling(self.scale, self.clip)
        X_train = scaling.fit_transform(X[train])
        weights = (None, None) if weight is None else (weight[train], weight[test])
        return _Fold(scaling, X_train, y[train], weights[0], X[test], y[test], weights[1])

    def _scores(self, fold, psi, Cs):
        """Return scores, fit times and score times for one fold, one psi and all C."""
        start = time.perf_counter()
        features = VanishingFeatures(self._transformer(psi))
        features.fit(fold.X_train, fold.y_train, fold.weight_train)
        X_train = features.transform(fold.X_train)
        n_features = X_train.shape[1]
        labels_train = targets(fold.y_train, len(self.classes_))
        with one_blas_thread():
            columns = as_columns(X_train, fit_intercept=True)
        del X_train
        shared = (time.perf_counter() - start) / len(Cs)

        start = time.perf_counter()
        if self.scoring is None:
            X_test = features.transform(fold.scaling.transform(fold.X_test))
        shared_score = (time.perf_counter() - start) / len(Cs)

        scores, fit_times, score_times = [], [], []
        weights = np.zeros((len(labels_train), n_features + 1))
        for C in Cs:
            start = time.perf_counter()
            final = L1SquaredHingeSVC(C)
            cost = np.full(len(fold.y_train), C)
            if fold.weight_train is not None:
                cost *= fold.weight_train
            with one_blas_thread():
                solutions = [
                    solve(columns, target, cost, w, tol=final.tol, max_iter=final.max_iter)
                    for target, w in zip(labels_train, weights, strict=True)
                ]
            weights = np.array([w for w, *_ in solutions])
            fit_times.append(shared + time.perf_counter() - start)
            start = time.perf_counter()
            if self.scoring is None:
                values = X_test @ weights[:, :-1].T + weights[:, -1]
                values = values[:, 0] if len(self.classes_) == 2 else values
                predicted = labels(np.arange(len(self.classes_)), values)
                scores.append(np.average(predicted == fold.y_test, weights=fold.weight_test))
            else:
                scores.append(self._score(fold, features, final, solutions))
            score_times.append(shared_score + time.perf_counter() - start)
        return scores, fit_times, score_times

    def _score(self, fold, features, final, solutions):
        """Score with any of scikit-learn's scorers, which want a fitted classifier."""
        final.n_features_in_ = max(1, features.n_generators_)
        final.classes_ = self.classes_
        final._store(solutions)
        model = VanishingClassifier(scale=self.scale, clip=self.clip)
        model.n_features_in_, model.classes_ = self.n_features_in_, self.classes_
        model._assemble(fold.scaling, features, final)
        scorer = check_scoring(model, self.scoring)
        weights = {} if fold.weight_test is None else {"sample_weight": fold.weight_test}
        return float(scorer(model, fold.X_test, self.classes_[fold.y_test], **weights))

    def _store(self, results, psis, Cs):
        """Set the attributes that describe the search, in the shape of GridSearchCV's."""
        shape = (len(psis), self.n_splits_, 3, len(Cs))
        table = np.array(results).reshape(shape).transpose(2, 1, 0, 3)
        scores, fit_times, score_times = table.reshape(3, self.n_splits_, -1)
        params = [{"psi": psi, "C": C} for psi in psis for C in Cs]
        found = {}
        for name, times in (("fit", fit_times), ("score", score_times)):
            found[f"mean_{name}_time"] = times.mean(axis=0)
            found[f"std_{name}_time"] = times.std(axis=0)
        for name in ("psi", "C"):
            found[f"param_{name}"] = np.ma.MaskedArray(
                [p[name] for p in params], mask=np.zeros(len(params), dtype=bool)
            )
        found["params"] = params
        for i, row in enumerate(scores):
            found[f"split{i}_test_score"] = row
        mean = found["mean_test_score"] = scores.mean(axis=0)
        found["std_test_score"] = scores.std(axis=0)
        rounded = mean.round(12)  # sums of the same scores in another order are equal
        found["rank_test_score"] = 1 + (rounded > rounded[:, np.newaxis]).sum(axis=1)
        self.cv_results_ = found
        self.best_index_ = int(np.argmax(rounded))
        self.best_score_ = float(mean[self.best_index_])
        self.best_params_ = params[self.best_index_]

    def decision_function(self, X):
        """Return the decision values of `classifier_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.classifier_.decision_function(X)

    def predict(self, X):
        """Return the labels that `classifier_` predicts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.classifier_.predict(X)
