"""The search for generators, psi, C and scaling by cross-validation."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer_names
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import check_jobs, one_blas_thread
from vanishing._types import Array, FloatArray, Labels, Table, Vector
from vanishing.checks import check_choice, check_flag
from vanishing.constructions.base import GeneratorTransformer
from vanishing.estimators.fits import Remarks, all_or_nothing
from vanishing.estimators.progress import Progress, listening
from vanishing.learning import settings
from vanishing.learning.candidates import BENDS, Free, families, others, simpler
from vanishing.learning.classifier import VanishingClassifier, adopt_parts
from vanishing.learning.default import resolved
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.folds import folds_of
from vanishing.learning.gaps import check_in_memory, fit_gaps, rows_without_gaps
from vanishing.learning.grid import is_auto, search_grid
from vanishing.learning.held_out import HeldOutError, error_of_choosing, reliability
from vanishing.learning.labels import (
    LabelledRows,
    check_class_weight,
    check_two_classes,
    labelled_rows,
)
from vanishing.learning.pipeline import fit_parts, remarks_on_parts, scale_rows
from vanishing.learning.prediction import PipelineClassifier
from vanishing.learning.scaling import NAMES, check_scale
from vanishing.learning.search_results import (
    FrontPoint,
    front,
    read_search,
    set_classifier,
    set_held_out,
    set_results,
    write_search,
)
from vanishing.learning.svm import L1SquaredHingeSVC
from vanishing.learning.temperature import learn_temperature, probabilities
from vanishing.learning.trials import Trials, describe
from vanishing.learning.tuning import Tuning
from vanishing.persistence import register
from vanishing.rows.intake import refuse

_MEASURED = ("fit_time", "score_time", "score")


class VanishingClassifierCV(PipelineClassifier):
    """`VanishingClassifier` with psi, C, scaling and generators chosen by cross-validation.

    By default the simplest comes first: columns scaled into [0, 1] and linear forms that tell the
    classes apart (`ContrastiveVanishing` with degree 1). Higher degrees follow while they gain. For
    each, psi goes down until smaller ones stop paying. If mistakes remain, and enough of them for a
    difference to mean something, curves and surfaces follow, single polynomials, the generators of
    `OAVI`, then other scalings and oracles. A more complex model must win by a standard error.
    Parameters that you give are not searched over.

    Nothing is learned from a fold's validation rows: scaling, generators and classifier see the
    other folds only. Features are computed once for all C, and the classifiers of growing C start
    from one another.

    Parameters
    ----------
    transformer : estimator, default=None
        Constructs the generators of a class, and has a parameter ``psi``; None means
        ``ContrastiveVanishing()``, or ``OAVI()`` with the oracle "pcg" or "omp".
    psis : "auto" or sequence of float, default="auto"
        Values of psi to look at, all of them; "auto" goes down from a large one while it pays. Of
        equal scores the first psi and the smallest C win. Values that are given are those of
        ``OAVI()`` where there is no transformer.
    Cs : "auto" or sequence of float, default="auto"
        Values of C; "auto" means 0.1, 1 and 10, and then those next to the best of them. With
        psis="auto" those that were clearly worse with one psi are not tried with the next.
    cv : int, splitter or iterable, default=3
        As in scikit-learn; an integer means stratified folds.
    scoring : str, callable or None, default=None
        As in scikit-learn; None means accuracy, balanced accuracy with class_weight="balanced".
        A callable takes ``(estimator, X, y)``, and
        ``sample_weight`` where `fit` does.
    scale : "auto", bool, "minmax", "maxabs", "quantile", "log" or transformer, default="auto"
        As in `VanishingClassifier`; "auto" chooses among "minmax", "quantile" and "log".
    clip : bool, default=True
        As in `VanishingClassifier`.
    class_weight : dict, "balanced" or None, default=None
        As in `VanishingClassifier`.
    missing : "error" or "ignore", default="error"
        As in `VanishingClassifier`; the search looks at rows without gaps.
    n_jobs : int, default=None
        Threads over folds, and over the psi of a given grid.
    verbose : int, default=0
        Print one line per fold and psi.

    Attributes
    ----------
    best_params_ : dict
        Parameters of `VanishingClassifier`: psi, C, and all others in which the model differs from
        its defaults. ``VanishingClassifier().set_params(**search.best_params_).fit(X, y)`` is the
        model of the search, except for `temperature_`.
    best_score_ : float
        Mean score of the best parameters over the folds.
    error_ : float or None
        The expected share of mistakes of the chosen model in cross-validation. The best of many
        scores flatters, so the choice is made anew on rows that are drawn with repetition, and
        measured on the others. Each class counts alike with class_weight="balanced". None with
        another `scoring`.
    error_interval_ : (float, float) or None
        A 95 % interval for it, also of groups of rows where there are some.
    reliability_ : ndarray of shape (n_bins, 3)
        Whether probabilities are right, on rows held out, in bins of the probability of the
        predicted class: its mean, how often that class was right, and the number of rows.
    best_index_ : int
        Their place in `cv_results_`.
    cv_results_ : dict of arrays of shape (n_points,)
        As of scikit-learn's GridSearchCV: ``param_psi``, ``param_C``, ``params``,
        ``split0_test_score``, ..., ``mean_test_score``, ``std_test_score``, ``rank_test_score``,
        times, and ``mean_complexity``; in the order in which they were tried. NaN for those that
        were not worth it, or would have taken too long or too much memory.
    front_ : list of FrontPoint
        Models that are better than all simpler ones that were tried, the simplest first:
        complexity, score, its standard deviation over the folds, and parameters of
        `VanishingClassifier`.
    classifier_ : VanishingClassifier
        Fitted to all rows with the best parameters.
    complexity_ : int or None
        How many numbers decide; as in `VanishingClassifier`.
    n_generators_, n_terms_ : int
        |G| and |O| of `classifier_`, summed over the classes.
    sparsity_ : float
        Share of zeros among the non-leading coefficients of all generators.
    generators_ : sequence of `vanishing.polynomials.Polynomial` of length n_generators_
        The generators of all classes, in the order of the features.
    decision_polynomials_ : list of `vanishing.polynomials.Polynomial`, or None
        The values of `decision_function`, one polynomial of the scaled columns for each of them.
        None where sizes of generators decide, which are not polynomials.
    temperature_ : float or None
        By which decision values are divided to be probabilities, learned from the decision values
        of the folds' validation rows.
    n_splits_ : int
        Number of folds.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Where X has names.

    See Also
    --------
    VanishingClassifier : The classifier that is tuned.
    VanishingFeatures : Generators of each class as features.
    ContrastiveVanishing : Polynomials that are small on one class and large on others.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import VanishingClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VanishingClassifierCV().fit(X, y)
    >>> {name: model.best_params_[name] for name in ("psi", "C", "scale")}
    {'psi': 0.01, 'C': 1.0, 'scale': 'minmax'}
    >>> model.best_params_["transformer"]
    ContrastiveVanishing(max_degree=1, max_terms=None)
    >>> print(f"{model.best_score_:.2f}")
    0.97
    """

    best_params_: dict[str, object]
    best_score_: float
    best_index_: int
    cv_results_: dict[str, Array | list[dict[str, object]]]
    classifier_: VanishingClassifier
    n_splits_: int
    error_: float | None
    error_interval_: tuple[float, float] | None
    reliability_: FloatArray

    def __init__(
        self,
        transformer: GeneratorTransformer | None = None,
        *,
        psis: Iterable[float] | Literal["auto"] = "auto",
        Cs: Iterable[float] | Literal["auto"] = "auto",
        cv: int | object = 3,
        scoring: str | Callable[..., float] | None = None,
        scale: bool | str | object = "auto",
        clip: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        missing: Literal["error", "ignore"] = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.transformer = transformer
        self.psis = psis
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.scale = scale
        self.clip = clip
        self.class_weight = class_weight
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Table,
        y: Labels | None = None,
        sample_weight: Vector | None = None,
        groups: Labels | None = None,
    ) -> Self:
        """Choose by cross-validation, and fit the best choice to all rows.

        Of more than 60,000 rows the search takes about so many, of each class a like share. They
        are the same ones wherever the rows are, and in blocks of any size. The final fit reads all.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows
            As `OAVI.fit` takes it.
        y : array-like of shape (n_samples,), default=None
            Labels of at least two classes; as `VanishingFeatures.fit` takes them.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in fits and in scores.
        groups : array-like of shape (n_samples,), default=None
            Which rows belong together: those of a group are in the same fold. A Dask collection if
            X is one.

        Returns
        -------
        self : VanishingClassifierCV
        """
        search(self, X, y, sample_weight, groups)
        return self

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a transformer that is None are refused.

        Parameters
        ----------
        **params : dict
            As scikit-learn has them: ``transformer__psi`` is a parameter of the transformer.

        Returns
        -------
        self : VanishingClassifierCV
        """
        inner = [name for name in params if name.startswith("transformer__")]
        if inner and params.get("transformer", self.transformer) is None:
            names = ", ".join(
                f"{name.removeprefix('transformer__')}={params[name]!r}" for name in inner
            )
            raise ValueError(
                f"{inner[0]} cannot be set: with transformer=None the search chooses what "
                f"constructs the equations. Give transformer=OAVI({names}) to search over psi, C "
                "and scaling with that."
            )
        return super().set_params(**params)

    @property
    def front_(self) -> list[FrontPoint]:
        """Models that are better than all simpler ones that were tried, the simplest first."""
        check_is_fitted(self)
        return front(self.cv_results_)

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_scale(self.scale, ("auto", *NAMES))
        check_flag("clip", self.clip)
        check_jobs(self.n_jobs)
        check_class_weight(self.class_weight)
        check_choice("missing", self.missing, ("error", "ignore"))
        VanishingFeatures(self.transformer).check_parameters()
        if "psi" not in clone(resolved(self.transformer)).get_params(deep=False):
            raise TypeError(
                f"transformer={self.transformer!r} has no parameter psi to search over: give OAVI, "
                "ABM, AVI or VCA."
            )
        self._check_scoring()
        search_grid(self.psis, self.Cs)

    def _check_scoring(self):
        if isinstance(self.scoring, str):
            if self.scoring not in get_scorer_names():
                raise ValueError(
                    f"scoring must be one of sklearn.metrics.get_scorer_names(), a callable or "
                    f"None; got {self.scoring!r}."
                )
        elif self.scoring is not None and not callable(self.scoring):
            raise TypeError(f"scoring must be one name, a callable or None; got {self.scoring!r}.")


# -- The search -----------------------------------------------------------------------------------


def search(model: VanishingClassifierCV, X, y, sample_weight, groups) -> VanishingClassifierCV:
    """Fit a `VanishingClassifierCV`.

    Parameters
    ----------
    model : VanishingClassifierCV
    X, y, sample_weight, groups : rows, labels, weights and groups
        As its `fit` takes them.

    Returns
    -------
    model : VanishingClassifierCV
    """
    model.check_parameters()
    psis, Cs, first_Cs = search_grid(model.psis, model.Cs)
    with all_or_nothing(model):
        rows = labelled_rows(model, X, y, sample_weight, keep_all=True)
        check_two_classes(rows.classes)
        given = rows
        if model.missing == "ignore":
            check_in_memory(rows)
            rows = rows_without_gaps(rows)
        if not rows.in_memory and not getattr(model.transformer, "fits_sources", True):
            refuse(model.transformer, X)
        folds, units = folds_of(
            rows, X, y, sample_weight, groups, cv=model.cv, whole=psis is not None
        )
        progress = Progress(type(model).__name__, model.verbose)
        trials = Trials(model, folds, progress)
        if psis is None:
            trials = trials.thinned(settings.MOST_ROWS)
        free = Free(is_auto(model.scale), model.transformer is None, psis is None)
        tuning = Tuning(
            trials,
            psis,
            families(free, trials),
            partial(others, free),
            [partial(bend, trials) for bend in BENDS],
            simpler if free.transformer and free.psi else None,
        )
        with one_blas_thread():
            tuning.run()
        best, place = tuning.best()
        tried = [
            (at, i)
            for at in trials.looks.values()
            for i, C in enumerate(Cs)
            if C in first_Cs or i in at.by_C
        ]
        fits, scores, splits = (
            np.array([at.table(name)[:, i] for at, i in tried]).T for name in _MEASURED
        )
        set_results(
            model,
            [trials.params(at.point, Cs[i]) for at, i in tried],
            [fits.mean(axis=0), fits.std(axis=0), scores.mean(axis=0), scores.std(axis=0)],
            splits,
            np.array([at.complexity(i) if i in at.by_C else np.nan for at, i in tried]),
            next(k for k, (at, i) in enumerate(tried) if at is best and i == place),
        )
        held_out = trials.held_out(best, place)
        temperature = learn_temperature(*held_out)
        set_held_out(
            model,
            _error(trials, units),
            reliability(probabilities(held_out.values, temperature), *held_out[1:]),
        )
        classifier = trials.classifier(best.point, Cs[place])
        classifier.n_jobs = model.n_jobs
        with listening(None):  # the search is over, and its steps are what was listened to
            present = rows.present() if rows.in_memory else rows
            remarks = _refit(model, classifier, present, temperature)
            if model.missing == "ignore":
                classifier.gaps_ = fit_gaps(classifier, given.present())
        _with_remarks(model, remarks, tuning).warn()
        return model


def _error(trials: Trials, units: np.ndarray) -> HeldOutError | None:
    """Return the error of what was chosen among all that was looked at, where it was by errors."""
    if trials.model.scoring is not None:
        return None
    looks = [look for look in trials.looks.values() if look.by_C]
    correct = [look.correct(place) for look in looks for place in look.by_C]
    return error_of_choosing(np.column_stack(correct), looks[0].counts, units)


def _with_remarks(model, remarks: Remarks, tuning: Tuning) -> Remarks:
    """Return the remarks on a classifier, with those on its search."""
    looks = tuning.trials.looks.values()
    problems = [problem for look in looks for problem in look.problems]
    if problems:
        total = sum(len(folds) for look in looks for folds in look.by_C.values())
        message = f"in {len(problems)} of the search's {total} fits; the first says: {problems[0]}"
        remarks = remarks._replace(problems=(*remarks.problems, message))
    notes = [] if remarks.nothing is None else [remarks.nothing]
    notes += _edges(model)
    if tuning.skipped:
        notes.append(f"not looked at: {'; '.join(tuning.skipped)}.")
    return remarks._replace(nothing=" Also: ".join(notes) or None)


def _edges(model) -> list[str]:
    """Say where the best value of a given grid is the last one on its side."""
    means, params = model.cv_results_["mean_test_score"], model.cv_results_["params"]
    notes = []
    for name, grid in (("psi", model.psis), ("C", model.Cs)):
        if is_auto(grid):
            continue
        values = sorted({point[name] for point in params})
        best = model.best_params_[name]
        if len(values) < 3 or best not in (values[0], values[-1]):
            continue
        inner = [
            m
            for m, p in zip(means, params, strict=True)
            if p[name] not in values[:: len(values) - 1]
        ]
        if model.best_score_ > np.nanmax(inner):
            side = "smaller" if best == values[0] else "larger"
            notes.append(
                f"the best {name}, {best:g}, is at the edge of the values given: try {side} ones."
            )
    return notes


def _refit(
    model, classifier: VanishingClassifier, rows: LabelledRows, temperature: float
) -> Remarks:
    """Fit the best classifier to all rows."""
    describe(model, classifier)
    scaled = scale_rows(rows, classifier.scale, classifier.clip)
    finals = [L1SquaredHingeSVC(classifier.C, class_weight=classifier.class_weight)]
    transformer = resolved(classifier.transformer, classifier.psi)
    (parts,) = fit_parts(
        scaled,
        transformer,
        finals,
        max_equations=classifier.max_equations,
        n_jobs=model.n_jobs,
    )
    set_classifier(model, adopt_parts(classifier, parts, temperature))
    return remarks_on_parts(type(model).__name__, parts)


register(VanishingClassifierCV, write_search, read_search)
