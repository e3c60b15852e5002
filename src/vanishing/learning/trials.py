"""Trials of a search: fits to some of the rows, and scores on those held out."""

import time
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring

from vanishing._threads import spread
from vanishing.constructions.base import GeneratorTransformer
from vanishing.constructions.contrastive import ContrastiveVanishing
from vanishing.constructions.oavi import OAVI
from vanishing.estimators.names import adopt_columns
from vanishing.estimators.progress import Progress, listening
from vanishing.learning import settings
from vanishing.learning.classifier import VanishingClassifier, adopt_parts, learned_temperature
from vanishing.learning.complexity import complexity
from vanishing.learning.default import resolved
from vanishing.learning.features import class_readers, feature_values
from vanishing.learning.grid import is_auto, search_grid
from vanishing.learning.labels import LabelledRows, class_weights, labels, weighted
from vanishing.learning.pipeline import Parts, ScaledRows, fit_parts, scale_rows
from vanishing.learning.prediction import watched
from vanishing.learning.scaling import FarRows
from vanishing.learning.svm import L1SquaredHingeSVC, decision_values
from vanishing.learning.temperature import learn_temperature, probabilities
from vanishing.rows.reader import RowReader
from vanishing.rows.source import RowPart


class Choice(NamedTuple):
    """What a search chooses apart from psi and C; None is what the user gave, or does not apply.

    The transformer is "oavi", with an oracle, or "contrastive", with a degree, with or without
    absolute values, maybe with knots, levels and slack.
    """

    scale: str | None = None
    transformer: str | None = None
    oracle: str | None = None
    max_degree: int | None = None
    absolute: bool | None = None
    n_knots: int | None = None
    n_levels: int | None = None
    n_pair_knots: int | None = None
    slack: float | None = None
    max_equations: int | None = None

    @property
    def is_contrastive(self) -> bool:
        """Whether generators are chosen for being large on the other classes."""
        return self.transformer == "contrastive"

    def words(self) -> dict[str, Any]:
        """Return what was chosen, in words for people."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class SearchPoint(NamedTuple):
    """One classifier but for C."""

    choice: Choice
    psi: float


class FoldScore(NamedTuple):
    """What one fold says of a point with one C."""

    score: float
    fit_time: float
    score_time: float
    correct: np.ndarray  # of which held-out rows the label was right
    counts: np.ndarray  # what each of them counts in the score, 1 on average
    values: np.ndarray  # some decision values
    complexity: int  # how many numbers decide
    n_equations: int  # that have a weight


class FoldScores(NamedTuple):
    """What all folds say of a point, for those C that were tried."""

    point: SearchPoint
    shape: tuple[int, int]  # numbers of folds and of C
    by_C: dict[int, list[FoldScore]]  # by the place of C, one per fold
    n_generators: int  # of the largest of the folds' models
    problems: list[str]

    def table(self, name: str) -> np.ndarray:
        """Return scores or times, of shape (n_folds, n_Cs); NaN for a C that was not tried."""
        values = np.full(self.shape, np.nan)
        for place, folds in self.by_C.items():
            values[:, place] = [getattr(fold, name) for fold in folds]
        return values

    @property
    def means(self) -> np.ndarray:
        """Mean scores, for all C; sums of the same scores in another order are equal."""
        return self.table("score").mean(axis=0).round(12)

    @property
    def best(self) -> float:
        """The best mean score."""
        return float(np.nanmax(self.means))

    def correct(self, place: int) -> np.ndarray:
        """Return of which held-out rows the label was right, with the C at a place."""
        return np.concatenate([fold.correct for fold in self.by_C[place]])

    def complexity(self, place: int) -> float:
        """Return the mean number of numbers that decide, with the C at a place."""
        return float(np.mean([fold.complexity for fold in self.by_C[place]]))

    def n_equations(self, place: int) -> int:
        """Return the mean number of generators that have a weight, with the C at a place."""
        return round(np.mean([fold.n_equations for fold in self.by_C[place]]))

    @property
    def counts(self) -> np.ndarray:
        """What each held-out row counts in the score, 1 on average."""
        return np.concatenate([fold.counts for fold in next(iter(self.by_C.values()))])

    def joined(self, other: "FoldScores") -> "FoldScores":
        """Return what two looks at the same point, with other C, say together."""
        problems = [*self.problems, *other.problems]
        most = max(self.n_generators, other.n_generators)
        by_C = {**self.by_C, **other.by_C}
        return self._replace(by_C=by_C, problems=problems, n_generators=most)


class _Fold(NamedTuple):
    """One split: training rows with a scaling, readers of their classes, and validation rows."""

    train: ScaledRows
    readers: list[RowReader] | None
    test: LabelledRows
    test_X: np.ndarray  # scaled as the training rows


class _Trial(NamedTuple):
    """What one fold says of one point, for the C that were tried."""

    by_C: list[FoldScore]
    n_generators: int
    problems: list[str]


class Trials:
    """The folds of a search, and looks at them.

    Parameters
    ----------
    model : VanishingClassifierCV
        Whose parameters and columns are looked at.
    folds : list of (training rows, validation rows)
    progress : Progress
        Of the search, whose trials these may be only some of.

    Attributes
    ----------
    looks : dict of SearchPoint: FoldScores
        What was looked at, in that order.
    """

    def __init__(self, model, folds: list[tuple[LabelledRows, LabelledRows]], progress: Progress):
        self.model = model
        self.folds = folds
        self.progress = progress
        psis, self.Cs, self.first_Cs = search_grid(model.psis, model.Cs)
        self._in_order = psis is None  # one psi after the other
        self.n_rows = max(len(train.part.y) for train, _ in folds)
        self.n_classes = len(folds[0][0].classes)
        self.n_problems = 1 if self.n_classes == 2 else self.n_classes  # of the linear SVM
        self.looks: dict[SearchPoint, FoldScores] = {}
        self._scaled: dict[Any, list[_Fold]] = {}
        self._transformers: dict[Choice, GeneratorTransformer | None] = {}

    @cached_property
    def n_columns(self) -> int:
        """Of what equations are made: a scaling that was given may make more columns."""
        if is_auto(self.model.scale):
            return self.folds[0][0].source.layout.n_features
        return self._folds(SearchPoint(Choice(), 1.0))[0].test_X.shape[1]

    @property
    def max_pairs(self) -> int:
        """How many pairs of columns may have surfaces: more products than rows tell by chance."""
        return min(settings.MOST_PAIRS, self.n_rows // settings.N_PAIR_KNOTS**2)

    def thinned(self, n_rows: int) -> "Trials":
        """Return trials that fit to so many of the training rows, a like share of each class."""
        if self.n_rows <= n_rows:
            return self
        step = -(-self.n_rows // n_rows)
        folds = [(_thinned(train, step), test) for train, test in self.folds]
        return Trials(self.model, folds, self.progress)

    def params(self, point: SearchPoint, C: float) -> dict[str, Any]:
        """Return the parameters of the classifier that a point and C stand for.

        Those that are not the defaults of `VanishingClassifier`, and always psi and C.
        """
        model, choice = self.model, point.choice
        if choice not in self._transformers:  # one estimator, however many points have it
            self._transformers[choice] = self._transformer(choice)
        given = {
            "scale": model.scale if choice.scale is None else choice.scale,
            "transformer": self._transformers[choice],
            "max_equations": choice.max_equations,
            "clip": model.clip,
            "class_weight": model.class_weight,
            "missing": model.missing,
        }
        defaults = VanishingClassifier().get_params(deep=False)
        changed = {
            name: value
            for name, value in given.items()
            if value is not None
            and value is not defaults[name]
            and not (isinstance(value, str) and value == defaults[name])
        }
        return {"psi": point.psi, "C": C, **changed}

    def _transformer(self, choice: Choice) -> GeneratorTransformer | None:
        """Return what a choice constructs generators with, but for psi; None: the default."""
        if choice.is_contrastive:
            assert choice.max_degree is not None
            return ContrastiveVanishing(
                max_degree=choice.max_degree,
                max_terms=None,
                slack=choice.slack or 0.0,
                n_knots=choice.n_knots or 0,
                n_levels=choice.n_levels or 0,
                n_pair_knots=choice.n_pair_knots or 0,
                max_pairs=self.max_pairs if choice.n_pair_knots else None,
                absolute=choice.absolute is not False,
            )
        if choice.oracle is not None:
            return OAVI(oracle=choice.oracle)
        given = self.model.transformer
        return None if given is None else clone(given)

    def classifier(self, point: SearchPoint, C: float) -> VanishingClassifier:
        """Return the classifier that a point and C stand for, to be fitted."""
        return VanishingClassifier(**clone(self.params(point, C), safe=False))

    def look(self, points: Sequence[SearchPoint], Cs: Sequence[float]) -> None:
        """Fit and score each of the points, all of one choice, with some C; fill in `looks`."""
        folds = self._folds(points[0])
        tasks = list(product(range(len(points)), range(len(folds))))
        self.progress.plan(len(tasks))
        trials: dict[tuple[int, int], _Trial] = {}

        def run(task):
            i, fold = task
            start = time.perf_counter()
            with listening(None):  # to steps of the search, not to those inside one
                trial = trials[task] = self._try(points[i], folds[fold], Cs)
            self._report(points[i], fold, trial, time.perf_counter() - start)

        spread(run, tasks, self.model.n_jobs)
        for i, point in enumerate(points):
            done = [trials[i, fold] for fold in range(len(folds))]
            look, known = self._together(point, done, Cs), self.looks.get(point)
            self.looks[point] = look if known is None else known.joined(look)

    def look_at(self, point: SearchPoint, Cs: Sequence[float]) -> FoldScores:
        """Return the look at a point, after one with those of some C that it lacks."""
        known = self.looks.get(point)
        if known is not None:
            Cs = [C for C in Cs if self.Cs.index(C) not in known.by_C]
        if Cs:
            self.look([point], Cs)
        return self.looks[point]

    def skip(self, point: SearchPoint) -> None:
        """Note a point that is not looked at."""
        self.looks.setdefault(point, self._together(point, [], []))

    def _together(self, point: SearchPoint, trials: list[_Trial], Cs) -> FoldScores:
        """Return what the folds say, from the trial of each."""
        places = [self.Cs.index(C) for C in Cs]
        by_C = zip(*(trial.by_C for trial in trials), strict=True)
        return FoldScores(
            point,
            (len(self.folds), len(self.Cs)),
            {place: list(folds) for place, folds in zip(places, by_C, strict=True)},
            max((trial.n_generators for trial in trials), default=0),
            [problem for trial in trials for problem in trial.problems],
        )

    def _report(self, point, fold, trial, seconds):
        chosen = "".join(f", {name} {value}" for name, value in point.choice.words().items())
        best = max(each.score for each in trial.by_C)
        self.progress.step(
            f"psi {point.psi:g}{chosen}, fold {fold + 1}, best score {best:.4f}, {seconds:.2f} s"
        )

    def _folds(self, point: SearchPoint) -> list[_Fold]:
        """Return the folds as a point has them scaled; scaled once for all points."""
        if point.choice.scale not in self._scaled:
            scale = self.classifier(point, 1.0).scale
            # Constructions may read the rows of a class in chunks of a size of their own.
            size = getattr(resolved(self.model.transformer), "chunk_size", None)
            folds = self._scaled[point.choice.scale] = []
            for train, test in self.folds:
                scaled = scale_rows(train, scale, self.model.clip)
                readers = class_readers(scaled.rows, size, remember=self._in_order)
                folds.append(_Fold(scaled, readers, test, scaled.scaling(test.part.X)))
        return self._scaled[point.choice.scale]

    def _try(self, point: SearchPoint, fold: _Fold, Cs: Sequence[float]) -> _Trial:
        """Fit to one fold with one psi and some C, and score."""
        model, test = self.model, fold.test.part
        start = time.perf_counter()
        finals = [L1SquaredHingeSVC(C, class_weight=model.class_weight) for C in Cs]
        transformer = resolved(self.classifier(point, 1.0).transformer, point.psi)
        max_equations = point.choice.max_equations
        fits: list[Parts] = []
        times: list[float] = []
        for parts in fit_parts(
            fold.train, transformer, finals, max_equations=max_equations, readers=fold.readers
        ):
            fits.append(parts)
            times.append(time.perf_counter() - start)
            start = time.perf_counter()
        times[0] -= parts.seconds
        together = [[parts] for parts in fits] if max_equations else [fits]
        decisions = [values for some in together for values in _decisions(some, fold.test_X)]
        seconds = time.perf_counter() - start
        counts = _counts(fold.test, model.class_weight)
        by_C: list[FoldScore] = []
        for C, parts, fit_time, values in zip(Cs, fits, times, decisions, strict=True):
            start = time.perf_counter()
            correct = labels(np.arange(self.n_classes), values) == test.y
            if model.scoring is None:
                score = np.average(correct, weights=counts)
            else:
                classifier = self.classifier(point, C)
                describe(model, classifier, named=False)  # the rows of a fold have no names
                adopt_parts(classifier, parts)
                classifier.temperature_ = learned_temperature(classifier, fold.train.rows)
                # A user who fits need not be warned of rows of a fold that are far outside.
                score = _score(model.scoring, watched(classifier, FarRows()), fold.test)
            score_time = time.perf_counter() - start
            # What serves all C counts for each of them in equal parts.
            measured = fit_time + parts.seconds / len(Cs), score_time + seconds / len(Cs)
            size = complexity(parts.scaling, parts.features, parts.final.coef_)
            n_equations = int(np.count_nonzero(parts.final.coef_.any(axis=0)))
            kept = values[_kept(test)].copy()
            judged = FoldScore(float(score), *measured, correct, counts, kept, size, n_equations)
            by_C.append(judged)
        problems = [problem for parts in fits for problem in parts.problems[:1]]
        return _Trial(by_C, parts.features.n_generators_, problems)

    def held_out(self, look: FoldScores, place: int) -> "HeldOut":
        """Return what a point and C say of some rows that it was not fitted to."""
        tests = [test.part.at(_kept(test.part)) for _, test in self.folds]
        y = np.concatenate([test.y for test in tests])
        weight = np.concatenate(
            [np.ones(len(test.y)) if test.weight is None else test.weight for test in tests]
        )
        classes = self.folds[0][1].classes
        totals = np.bincount(y, weight, len(classes))
        by_class = class_weights(self.model.class_weight, classes, totals)
        values = np.concatenate([fold.values for fold in look.by_C[place]])
        return HeldOut(values, y, weighted(y, weight, by_class))

    def losses(self, look: FoldScores, place: int) -> np.ndarray:
        """Return the log-losses of rows, by a point and C that were not fitted to them."""
        held_out = self.held_out(look, place)
        y = held_out.y
        chances = probabilities(held_out.values, learn_temperature(*held_out))
        # No row is as surprising as the next one after so many without a mistake.
        return -np.log(np.maximum(chances[np.arange(len(y)), y], 1.0 / (len(y) + 2.0)))


class HeldOut(NamedTuple):
    """Decision values of rows held out, the places of their classes, and their weights."""

    values: np.ndarray
    y: np.ndarray
    weight: np.ndarray


def _decisions(fits: list[Parts], X: np.ndarray) -> list[np.ndarray]:
    """Return the decision values of scaled rows by each of some fits to the same features.

    What has no weight in any of them is not evaluated.
    """
    features = fits[0].features
    weights = [parts.final.coef_[:, : features.n_generators_] for parts in fits]
    used = np.any([each.any(axis=0) for each in weights], axis=0)
    values = feature_values(features, X, used)
    return [
        decision_values(parts.final, values, each[:, used])
        for parts, each in zip(fits, weights, strict=True)
    ]


def _counts(test: LabelledRows, class_weight) -> np.ndarray:
    """Return what each held-out row counts in the score, 1 on average.

    With balanced classes all classes that are there count alike.
    """
    y, weight = test.part.y, test.part.weight
    counts = np.ones(len(y)) if weight is None else weight
    if isinstance(class_weight, str):
        counts = weighted(y, counts, class_weights(class_weight, test.classes, test.totals))
    return counts * (len(y) / counts.sum())


def _kept(test: RowPart) -> slice:
    """Return which rows of a fold a temperature is learned from."""
    return slice(None, None, -(-len(test.y) // settings.KEPT_SCORES))


def _thinned(rows: LabelledRows, step: int) -> LabelledRows:
    """Return every so many of the rows of each class, but not fewer than a few."""
    y = rows.part.y
    order = np.argsort(y, kind="stable")
    counts = np.bincount(y, minlength=len(rows.classes))
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    kept = [
        order[start : start + count : max(1, min(step, count // 20))]
        for start, count in zip(starts, counts, strict=True)
    ]
    return rows.at(np.sort(np.concatenate(kept)))


def _score(scoring, classifier: VanishingClassifier, test: LabelledRows) -> float:
    """Score with any of scikit-learn's scorers."""
    scorer = check_scoring(classifier, scoring)
    X, y, weight = test.part
    weights = {} if weight is None else {"sample_weight": weight}
    try:
        score = float(scorer(classifier, X, test.classes[y], **weights))
    except TypeError as error:
        if not weights or "sample_weight" not in str(error):
            raise
        raise TypeError(
            f"scoring={scoring!r} takes no sample_weight, by which rows are weighted here: leave "
            "the weights out, or give a scorer that takes them."
        ) from error
    if np.isnan(score):
        raise ValueError(
            f"scoring={scoring!r} is not a number on a validation fold, which has {len(y)} "
            f"row{'' if len(y) == 1 else 's'}. Use fewer folds, or another scoring."
        )
    return score


def describe(model, classifier: VanishingClassifier, named=True) -> None:
    """Let a classifier know the columns and classes of the search."""
    classifier.n_features_in_, classifier.classes_ = model.n_features_in_, model.classes_
    if named:
        adopt_columns(classifier, model)
