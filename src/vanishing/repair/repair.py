"""The estimator `VanishingRepair`: gaps filled and wrong values replaced by what laws say."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import one_blas_thread, spread, threads
from vanishing._types import Array, FloatArray, Names, ObjectArray, RandomState, Table, Vector
from vanishing._warnings import warn
from vanishing.checks import check_flag, check_number
from vanishing.equations.law import Law, read_law, write_law
from vanishing.estimators.bases import BaseEstimator, TransformerMixin
from vanishing.estimators.fits import all_or_nothing
from vanishing.estimators.names import input_names
from vanishing.estimators.row_methods import RowTransformer, row_by_row
from vanishing.estimators.saving import Savable
from vanishing.fitting.sample import row_keys
from vanishing.persistence import register
from vanishing.repair import settings
from vanishing.repair.cells import CellRepair, RepairedRows, lines_of, repaired
from vanishing.repair.discovery import check_laws, laws_of_table, laws_of_user
from vanishing.repair.model import RowModel
from vanishing.repair.noise import ColumnNoise, noise_of
from vanishing.repair.prior import ColumnPrior, prior_of
from vanishing.repair.system import LawSystem
from vanishing.rows.intake import take_rows_in_memory

_CHUNK = 1 << 21  # numbers of covariances at a time


class VanishingRepair(Savable, RowTransformer, TransformerMixin, BaseEstimator):
    """Fill the gaps of a table and replace values that break its laws.

    Parameters
    ----------
    max_degree : int, default=2
        Largest degree of the laws to find. From 3 on there is a search for each column, which takes
        seconds per column.
    laws : str, Law, fitted finder or detector, or list of these, default=None
        Laws that are known: equations such as ``"net = quantity*price"``, `Law` objects, or a
        `LawFinder` or `VanishingOutlierDetector`. Names in equations that are no columns are
        constants to fit (see `check_law`). An estimator that is not fitted yet is fitted to the
        rows without gaps. None: they are searched in the rows without gaps.
    noise : float or array-like of shape (n_features,), default=None
        Standard deviation of the noise of all columns, or of each. None: it is estimated from how
        far rows are from the laws.
    reconcile : bool, default=False
        Whether all values are moved, within their noise, so that laws hold. Otherwise only gaps and
        wrong values change.
    n_jobs : int, default=None
        Threads over rows. The result does not depend on it.
    random_state : int, RandomState or None, default=0
        Which rows the noise and the covariance are learned from, of more than 5,000, and which a
        search looks at, of more than 10,000.

    Attributes
    ----------
    laws_ : list of Law
        The laws that values are repaired by.
    noise_ : ndarray of shape (n_features_in_,)
        Standard deviation of the noise of each column, at its middle value.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of the columns; only where X has names.

    See Also
    --------
    VanishingOutlierDetector : Which rows break the laws, and why.
    check_law : Whether an equation that you know holds.

    Notes
    -----
    A row is taken for a point where all laws hold, measured with noise. Its most likely value
    minimises squared distances from the measured values and from the laws, in units of their
    errors. Where laws leave a value open, it follows from the others by a robust covariance of the
    columns.

    A row that breaks the laws is tried with one, two or three of its cells taken for gaps. Each
    possibility has a likelihood; a cell is replaced if those that blame it have 95 % of that.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import VanishingRepair
    >>> random = np.random.default_rng(0)
    >>> q, w = random.uniform(1, 3, (2, 500))
    >>> X = np.column_stack([q, w, q * w, q**2]) * (1 + 0.002 * random.normal(size=(500, 4)))
    >>> X[3] = [2.0, 1.5, np.nan, 4.0]
    >>> X[8] = [2.0, 1.5, 3.0, 9.0]
    >>> repair = VanishingRepair().fit(X)
    >>> repair.transform(X)[[3, 8]].round(1)
    array([[2. , 1.5, 3. , 4. ],
           [2. , 1.5, 3. , 4. ]])
    """

    fits_sources = False
    reads_sources = False
    takes_gaps = True

    laws_: list[Law]
    n_features_in_: int
    feature_names_in_: ObjectArray

    def __init__(
        self,
        max_degree: int = 2,
        *,
        laws: Any = None,
        noise: float | Vector | None = None,
        reconcile: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ):
        self.max_degree = max_degree
        self.laws = laws
        self.noise = noise
        self.reconcile = reconcile
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_number("max_degree", self.max_degree, low=1, high=6, integer=True)
        check_flag("reconcile", self.reconcile)
        check_laws(self.laws)

    # -- Learning ---------------------------------------------------------------------------------

    def fit(self, X: Table, y: object = None) -> Self:
        """Find the laws of a table, or take those given, and learn how noisy its columns are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN where there are gaps. Some values may be wrong.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        with all_or_nothing(self), one_blas_thread(), threads(self.n_jobs):
            rows = np.array(take_rows_in_memory(self, X).X, dtype=np.float64)
            names = self._names()
            _check_columns(rows, names)
            given = _per_column(self.noise, names)
            seed = int(check_random_state(self.random_state).randint(2**31))
            # In an order of their own, rows give the same sums in whatever order they come.
            rows = rows[np.argsort(row_keys(rows.T, seed), kind="stable")]
            if self.laws is None:
                laws = laws_of_table(rows, names, self.max_degree, seed, self.n_jobs)
            else:
                laws = laws_of_user(self.laws, rows, names)
            system = LawSystem(laws, names)
            sample = rows[: settings.PRIOR_ROWS]
            prior = prior_of(sample)
            noise = noise_of(system, sample, prior.spread, given)
            self.laws_ = laws
            self._model = RowModel(system, noise, prior)
            self._fit_reconcile = bool(self.reconcile)
        if not laws:
            warn(
                "no law was found, so gaps are filled by the covariance of the columns, and no "
                "value counts as wrong. Give laws=[...] if you know some. A search needs at "
                f"least {settings.LEAST_ROWS} rows without gaps, not counting one column."
            )
        return self

    def _names(self) -> tuple[str, ...]:
        return tuple(map(str, input_names(self)))

    @property
    def noise_(self) -> FloatArray:
        """Standard deviation of the noise of each column, at its middle value."""
        check_is_fitted(self)
        return np.sqrt(self._model.noise.variance(self._model.prior.mean))

    # -- Answers ----------------------------------------------------------------------------------

    @row_by_row(n_columns=lambda self: self.n_features_in_, dtype=lambda self: np.float64)
    def transform(self, X: Array) -> FloatArray:
        """Return the table with gaps filled and values that break laws replaced.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN where there are gaps.

        Returns
        -------
        repaired : ndarray of shape (n_samples, n_features)
            Without NaN. Cells that are in doubt are left as they are; `report` names them.
        """
        return np.concatenate([rows.values for _, rows in self._repaired(X)])

    def report(self, X: Table) -> list[CellRepair]:
        """Say which cells are changed, or in doubt, and why.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN where there are gaps.

        Returns
        -------
        cells : list of CellRepair
            One per cell, row by row: ``row``, ``column``, ``kind`` ("gap", "wrong", "ambiguous" or,
            with ``reconcile``, "reconciled"), ``was``, ``now``, ``std``, ``law`` and
            ``probability``. ``str(cell)`` is a sentence.
        """
        check_is_fitted(self)
        rows = take_rows_in_memory(self, X, method="report", reset=False).X
        lines: list[CellRepair] = []
        with threads(self.n_jobs):
            for cut, part in self._repaired(rows):
                of_part = np.asarray(rows[cut], dtype=np.float64)
                lines += lines_of(part, of_part, self._names(), self.laws_, cut.start)
        return lines

    def covariance(self, X: Table) -> FloatArray:
        """Return how sure reconciled rows are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN where there are gaps.

        Returns
        -------
        covariance : ndarray of shape (n_samples, n_features, n_features)
            Of the errors of the rows that `transform` returns with ``reconcile=True``.
        """
        check_is_fitted(self)
        rows = take_rows_in_memory(self, X, method="covariance", reset=False).X
        with threads(self.n_jobs):
            return np.concatenate([part.covariance for _, part in self._repaired(rows)])

    def _repaired(self, X: np.ndarray) -> list[tuple[slice, RepairedRows]]:
        """Repair rows, some at a time."""
        step = max(1, _CHUNK // (X.shape[1] * (X.shape[1] + len(self.laws_) + 1)))
        cuts = [slice(i, min(i + step, len(X))) for i in range(0, len(X), step)]
        model, reconcile = self._model, self._fit_reconcile

        def of(cut: slice) -> tuple[slice, RepairedRows]:
            return cut, repaired(model, np.asarray(X[cut], dtype=np.float64), reconcile)

        with one_blas_thread():
            return list(spread(of, cuts))

    def get_feature_names_out(self, input_features: Names | None = None) -> ObjectArray:
        """Return the names of the columns, which stay as they are.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X; those seen in `fit` if there were any.

        Returns
        -------
        names : ndarray of str of shape (n_features_in_,)
        """
        check_is_fitted(self)
        return np.array(list(input_names(self, input_features)), dtype=object)


def _check_columns(X: np.ndarray, names: Sequence[str]) -> None:
    empty = np.flatnonzero(~np.isfinite(X).any(axis=0))
    if len(empty):
        raise ValueError(
            f"column {names[empty[0]]!r} has no value at all, so it cannot be filled: leave it out."
        )


def _per_column(noise, names: Sequence[str]) -> np.ndarray | None:
    """Return the noise of each column, or None."""
    if noise is None:
        return None
    try:
        numbers = np.array(noise, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"noise must be a number, or one per column; got {noise!r}.") from None
    if numbers.shape not in [(), (len(names),)]:
        raise ValueError(
            f"noise must be a number, or one per column, {len(names)} of them; got an array of "
            f"shape {numbers.shape}."
        )
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise ValueError(f"noise must be finite and not negative; got {noise!r}.")
    return np.broadcast_to(numbers, (len(names),)).copy()


# -- What is saved --------------------------------------------------------------------------------


def _write(writer, model) -> dict:
    known = model._model
    return {
        **writer.input(model),
        "laws": [write_law(writer, law) for law in model.laws_],
        "reconcile": model._fit_reconcile,
        "prior": {name: writer.array(v, name) for name, v in known.prior._asdict().items()},
        "noise": {name: writer.array(v, name) for name, v in known.noise._asdict().items()},
    }


def _read(reader, node, model):
    keys = ("laws", "reconcile", "prior", "noise")
    laws, reconcile, prior, noise = reader.fitted(model, node, keys)
    model.laws_ = [read_law(reader, law) for law in reader.listed(laws, "laws")]
    reader.require(isinstance(reconcile, bool), "reconcile is not true or false.")
    model._fit_reconcile = reconcile
    names, n, k = model._names(), model.n_features_in_, len(model.laws_)
    for law in model.laws_:
        reader.require(set(law.columns) <= set(names), "a law is about another table.")
    shapes = {"correlation": (n, n), "slack": (k, k)}

    def arrays(kind, values, what):
        parts = reader.fields(values, what, kind._fields)
        read = {}
        for name, part in zip(kind._fields, parts, strict=True):
            shape = shapes.get(name, (n,))
            array = reader.array(part, name)
            empty = not array.size and not np.prod(shape)  # whose shape a list does not tell
            sized = array.shape == shape or empty
            reader.require(sized and np.isfinite(array).all(), f"{name} has the wrong shape.")
            read[name] = np.asarray(array, dtype=np.float64).reshape(shape)
        return kind(**read)

    model._model = RowModel(
        LawSystem(model.laws_, names),
        arrays(ColumnNoise, noise, "the noise"),
        arrays(ColumnPrior, prior, "the prior"),
    )


register(VanishingRepair, _write, _read)
