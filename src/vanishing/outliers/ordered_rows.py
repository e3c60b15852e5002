"""Rows of a detector in their order: scores with lags and gaps, wherever rows are; events."""

from copy import copy

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import one_blas_thread, spread, threads
from vanishing._types import Table, Vector
from vanishing.estimators.row_methods import RowMethods
from vanishing.outliers import gaps
from vanishing.outliers.events import Event, events_of, times_of
from vanishing.outliers.gaps import GapFilling
from vanishing.outliers.lags import lagged, lagged_blocks, refuse_unordered
from vanishing.outliers.passes import PIECE
from vanishing.outliers.state import DetectorState
from vanishing.rows.intake import is_lazy, take_rows_in_memory
from vanishing.rows.source import RowPart


class OrderedRows(RowMethods):
    """Base of a detector: what its methods have in common, whose rows have gaps and lags."""

    gap_remedy = (
        "Drop them; or set missing='ignore', which scores rows with gaps by the columns that they "
        "have."
    )

    missing: str
    lags: int
    n_jobs: int | None
    offset_: float
    n_features_in_: int
    _state: DetectorState

    @property
    def takes_gaps(self) -> bool:  # type: ignore[override]  # a parameter says it
        """Whether cells may be missing."""
        return self.missing == "ignore"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's bases
        tags.input_tags.allow_nan = self.takes_gaps
        return tags

    def events(self, X: Table, t: Vector | None = None) -> list[Event]:
        """Gather alarms that follow one another into events, and say which columns are to blame.

        Values that do not change, where they always did, and stretches of missing cells are
        events, too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            One run, in the order of time.
        t : array-like of shape (n_samples,), default=None
            Times, increasing: numbers or dates. Where many are left out, rows are missing, which
            is an event. None: only the order of rows is known.

        Returns
        -------
        events : list of Event
            The gravest first.

        Examples
        --------
        >>> import numpy as np
        >>> from vanishing import VanishingOutlierDetector
        >>> random = np.random.default_rng(0)
        >>> a, b = random.uniform(1, 3, (2, 1000))
        >>> X = np.column_stack([a, b, a + b, a - b]) + 0.01 * random.normal(size=(1000, 4))
        >>> X[600:620, 2] += 0.5
        >>> detector = VanishingOutlierDetector(random_state=0).fit(X[:500])
        >>> event = detector.events(X)[0]
        >>> event.start, event.end, event.columns[0]
        (600, 619, 'x2')
        """
        check_is_fitted(self)
        rows = take_rows_in_memory(self, X, method="events", reset=False).X
        with one_blas_thread(), threads(self.n_jobs):
            scores = self._scores(lagged(rows, self._n_lags))
            return events_of(self._state, rows, scores, self.offset_, times_of(t, len(rows)))

    @property
    def _n_lags(self) -> int:
        """How many rows before each are known, by what was learned."""
        return len(self._state.names) // self.n_features_in_ - 1

    def _applied_to(self, X):
        """Return itself and X; with lags and blocks, a detector of columns with those before."""
        if not self._n_lags or not is_lazy(X):
            return self, X
        refuse_unordered(self, X)
        detector = copy(self)
        names = detector.column_names_
        detector.n_features_in_, detector.lags, detector.missing = len(names), 0, "ignore"
        if hasattr(self, "feature_names_in_"):
            detector.feature_names_in_ = np.array(names, dtype=object)
        return detector, lagged_blocks(X, self._n_lags, gaps=self.takes_gaps)

    def _without_gaps(self, X: np.ndarray) -> np.ndarray:
        """Return rows to learn from, filled in."""
        if not np.isnan(X).any():
            return X
        state = self._state
        return GapFilling.of(state.model.features, state.sums[1])(X, state.n_samples)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        model, sums = self._state.model, self._state.sums
        with one_blas_thread():
            parts = RowPart(X, None, None).pieces(PIECE)
            return np.concatenate(spread(lambda part: gaps.scores(model, sums, part.X), parts))

    def _scores_in_order(self, X: np.ndarray) -> np.ndarray:
        return self._scores(lagged(X, self._n_lags))

    def _scores_in_memory(self, X) -> np.ndarray:
        rows = take_rows_in_memory(self, X, method="p_values", reset=False).X
        return self._scores_in_order(rows)

    def _decisions(self, X: np.ndarray) -> np.ndarray:
        return self._scores_in_order(X) - self.offset_
