"""Trials of a search: fits to some of the rows, and scores on those held out."""

import time
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring

from vanishing._threads import spread
from vanishing.constructions.contrastive import ContrastiveVanishing
from vanishing.estimators.names import adopt_columns
from vanishing.estimators.progress import Progress, listening
from vanishing.learning import settings
from vanishing.learning.classifier import (
    VanishingClassifier,
    adopt_parts,
    learned_temperature,
)
from vanishing.learning.default import resolved
from vanishing.learning.features import class_readers, feature_values
from vanishing.learning.grid import search_grid
from vanishing.learning.labels import LabelledRows, class_weights, labels
from vanishing.learning.pipeline import ScaledRows, fit_parts, scale_rows
from vanishing.learning.prediction import watched
from vanishing.learning.scaling import FarRows
from vanishing.learning.svm import L1SquaredHingeSVC, decision_values
from vanishing.learning.temperature import learn_temperature
from vanishing.rows.reader import RowReader
from vanishing.rows.values import or_constant


class Choice(NamedTuple):
    """What a search chooses among beside psi and C; None is what the user gave, or does not apply.

    The transformer is "oavi", with an oracle, or "contrastive", with a degree.
    """

    scale: str | None = None
    transformer: str | None = None
    oracle: str | None = None
    max_degree: int | None = None

    @property
    def is_contrastive(self) -> bool:
        """Whether generators are chosen for being large on the other classes."""
        return self.transformer == "contrastive"

    def params(self) -> dict[str, Any]:
        """Return what was searched over."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class Point(NamedTuple):
    """One classifier but for C."""

    choice: Choice
    psi: float


class FoldScores(NamedTuple):
    """What the folds say of a point, for all C: arrays of shape (n_folds, n_Cs).

    NaN, and empty arrays, for a C that was not tried.
    """

    point: Point
    scores: np.ndarray
    fit_times: np.ndarray
    score_times: np.ndarray
    correct: list[np.ndarray]  # for each C, of which held-out rows the label was right
    values: list[list[np.ndarray]]  # for each fold and C, some decision values
    n_generators: int  # of the largest of the folds' models
    problems: list[str]

    @property
    def means(self) -> np.ndarray:
        """Mean scores, for all C; sums of the same scores in another order are equal."""
        return self.scores.mean(axis=0).round(12)

    @property
    def best(self) -> float:
        """The best mean score."""
        return float(np.nanmax(self.means))

    def joined(self, other: "FoldScores") -> "FoldScores":
        """Return what two looks at the same point, with other C, say together."""
        new = np.isfinite(other.scores[0])

        def chosen(ours, theirs):
            return [theirs[i] if new[i] else ours[i] for i in range(len(new))]

        return FoldScores(
            self.point,
            np.where(new, other.scores, self.scores),
            np.where(new, other.fit_times, self.fit_times),
            np.where(new, other.score_times, self.score_times),
            chosen(self.correct, other.correct),
            [chosen(*fold) for fold in zip(self.values, other.values, strict=True)],
            self.n_generators,
            [*self.problems, *other.problems],
        )


def skipped(point: Point, n_folds: int, n_Cs: int) -> FoldScores:
    """Return a look that was not taken."""
    nothing = np.full((n_folds, n_Cs), np.nan)
    return FoldScores(point, nothing, nothing, nothing, [], [], 0, [])


class _Fold(NamedTuple):
    """One split: training rows with a scaling, readers of their classes, and validation rows."""

    train: ScaledRows
    readers: list[RowReader] | None
    test: LabelledRows


class _Trial(NamedTuple):
    """What one fold and one point give, for the C that were tried."""

    scores: list[float]
    fit_times: list[float]
    score_times: list[float]
    correct: list[np.ndarray]
    values: list[np.ndarray]
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
    """

    def __init__(self, model, folds: list[tuple[LabelledRows, LabelledRows]], progress: Progress):
        self.model = model
        self.folds = folds
        self.progress = progress
        psis, self.Cs, self.first_Cs = search_grid(model.psis, model.Cs)
        self._in_order = psis is None  # one psi after the other
        self.n_rows = max(len(train.part.y) for train, _ in folds)
        self.n_columns = folds[0][0].source.layout.n_features
        self.n_classes = len(folds[0][0].classes)
        self.n_problems = 1 if self.n_classes == 2 else self.n_classes  # of the linear SVM
        self._scaled: dict[Any, list[_Fold]] = {}

    def thinned(self, n_rows: int) -> "Trials":
        """Return trials that fit to so many of the training rows, a like share of each class."""
        if self.n_rows <= n_rows:
            return self
        step = -(-self.n_rows // n_rows)
        folds = [(_thinned(train, step), test) for train, test in self.folds]
        return Trials(self.model, folds, self.progress)

    def classifier(self, point: Point, C: float) -> VanishingClassifier:
        """Return the classifier that a point and C stand for, to be fitted."""
        model, choice = self.model, point.choice
        if choice.is_contrastive:
            assert choice.max_degree is not None
            transformer = ContrastiveVanishing(
                point.psi, max_degree=choice.max_degree, max_terms=None
            )
        else:
            transformer = clone(resolved(model.transformer)).set_params(psi=point.psi)
            if choice.oracle is not None:
                transformer.set_params(oracle=choice.oracle)
        return VanishingClassifier(
            transformer,
            C=C,
            scale=model.scale if choice.scale is None else choice.scale,
            clip=model.clip,
            class_weight=model.class_weight,
        )

    def look(
        self,
        points: Sequence[Point],
        Cs: Sequence[float] | None = None,
        looks: dict[Point, FoldScores] | None = None,
    ) -> list[FoldScores]:
        """Fit and score each of the points, all of one choice, with all C or some of them.

        The looks join ``looks``, those at points that are done also where it is interrupted.
        """
        folds = self._folds(points[0])
        Cs = self.Cs if Cs is None else list(Cs)
        tasks = list(product(range(len(points)), range(len(folds))))
        self.progress.plan(len(tasks))
        trials: dict[tuple[int, int], _Trial] = {}

        def run(task):
            i, fold = task
            start = time.perf_counter()
            with listening(None):  # to steps of the search, not to those inside one
                trial = trials[task] = self._try(points[i], folds[fold], Cs)
            self._say(points[i], fold, trial, time.perf_counter() - start)

        looks = {} if looks is None else looks
        try:
            spread(run, tasks, self.model.n_jobs)
        finally:
            for i, point in enumerate(points):
                done = [trials[i, fold] for fold in range(len(folds)) if (i, fold) in trials]
                if len(done) == len(folds):
                    looks[point] = self._look(point, done, Cs)
        return [looks[point] for point in points]

    def look_at(
        self, point: Point, Cs: Sequence[float], looks: dict[Point, FoldScores]
    ) -> FoldScores:
        """Return what ``looks`` say of a point with some C, after a look with those that lack."""
        known = looks.get(point)
        if known is not None:
            Cs = [C for C in Cs if np.isnan(known.scores[0, self.Cs.index(C)])]
        if Cs:
            (new,) = self.look([point], Cs)
            looks[point] = new if known is None else known.joined(new)
        return looks[point]

    def _look(self, point: Point, trials: list[_Trial], Cs) -> FoldScores:
        tables = np.full((3, len(trials), len(self.Cs)), np.nan)
        correct = [np.zeros(0, dtype=bool) for _ in self.Cs]
        values = [[np.zeros(0) for _ in self.Cs] for _ in trials]
        for j, C in enumerate(Cs):
            place = self.Cs.index(C)
            correct[place] = np.concatenate([trial.correct[j] for trial in trials])
            for i, trial in enumerate(trials):
                tables[:, i, place] = (trial.scores[j], trial.fit_times[j], trial.score_times[j])
                values[i][place] = trial.values[j]
        n_generators = max(trial.n_generators for trial in trials)
        problems = [problem for trial in trials for problem in trial.problems]
        scores, fit_times, score_times = tables
        return FoldScores(
            point, scores, fit_times, score_times, correct, values, n_generators, problems
        )

    def _say(self, point, fold, trial, seconds):
        chosen = "".join(f", {name} {value}" for name, value in point.choice.params().items())
        self.progress.step(
            f"psi {point.psi:g}{chosen}, fold {fold + 1}, best score {max(trial.scores):.4f}, "
            f"{seconds:.2f} s"
        )

    def _folds(self, point: Point) -> list[_Fold]:
        """Return the folds as a point has them scaled; scaled once for all points."""
        if point.choice.scale not in self._scaled:
            scale = self.classifier(point, 1.0).scale
            # Constructions may read the rows of a class in chunks of a size of their own.
            size = getattr(resolved(self.model.transformer), "chunk_size", None)
            folds = self._scaled[point.choice.scale] = []
            for train, test in self.folds:
                scaled = scale_rows(train, scale, self.model.clip)
                readers = class_readers(scaled.rows, size, remember=self._in_order)
                folds.append(_Fold(scaled, readers, test))
        return self._scaled[point.choice.scale]

    def _try(self, point: Point, fold: _Fold, Cs: Sequence[float]) -> _Trial:
        """Fit to one fold with one psi and some C, and score."""
        model, test, values = self.model, fold.test.part, None
        classifiers = [self.classifier(point, C) for C in Cs]
        trial = _Trial([], [], [], [], [], 0, [])
        shared = [0.0, 0.0]  # seconds of what serves all C, in fits and in scores
        start = time.perf_counter()
        finals = [L1SquaredHingeSVC(C, class_weight=model.class_weight) for C in Cs]
        fits = fit_parts(fold.train, classifiers[0].transformer, finals, readers=fold.readers)
        step = -(-len(test.y) // settings.KEPT_SCORES)
        for classifier, parts in zip(classifiers, fits, strict=True):
            shared[0] = parts.seconds
            trial.fit_times.append(time.perf_counter() - start)
            start = time.perf_counter()
            if values is None:  # features that are evaluated once for all C
                values = or_constant(feature_values(parts.features, parts.scaling(test.X)))
                shared[1] = time.perf_counter() - start
            decided = decision_values(parts.final, values)
            correct = labels(np.arange(self.n_classes), decided) == test.y
            if model.scoring is None:
                score = np.average(correct, weights=test.weight)
            else:
                describe(model, classifier, named=False)  # the rows of a fold have no names
                adopt_parts(classifier, parts)
                classifier.temperature_ = learned_temperature(classifier, fold.train.rows)
                # Rows of a fold that are far outside are no news to whoever fits.
                score = _score(model.scoring, watched(classifier, FarRows()), fold.test)
            trial.scores.append(float(score))
            trial.correct.append(correct)
            trial.values.append(decided[::step].copy())
            trial.problems.extend(parts.problems[:1])
            trial.score_times.append(time.perf_counter() - start)
            start = time.perf_counter()
        for times, seconds in zip((trial.fit_times, trial.score_times), shared, strict=True):
            times[0] -= seconds
            times[:] = [each + seconds / len(Cs) for each in times]
        return trial._replace(n_generators=parts.features.n_generators_)

    def temperature(self, look: FoldScores, place: int) -> float:
        """Learn the temperature of a point and C from rows that it was not fitted to."""
        tests = [test.part for _, test in self.folds]
        steps = [-(-len(test.y) // settings.KEPT_SCORES) for test in tests]
        kept = [test.at(slice(None, None, s)) for test, s in zip(tests, steps, strict=True)]
        y = np.concatenate([test.y for test in kept])
        weight = np.concatenate(
            [np.ones(len(test.y)) if test.weight is None else test.weight for test in kept]
        )
        classes = self.folds[0][1].classes
        totals = np.bincount(y, weight, len(classes))
        by_class = class_weights(self.model.class_weight, classes, totals)
        values = np.concatenate([fold[place] for fold in look.values])
        return learn_temperature(values, y, weight if by_class is None else weight * by_class[y])


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
    score = float(scorer(classifier, X, test.classes[y], **weights))
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
