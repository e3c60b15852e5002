"""Moments as an object: accumulated, merged, saved, and fitted to, without the rows.

All moments mean(x^alpha) of degree up to twice ``max_degree`` determine what OAVI does up to
``max_degree``. There are C(n + 2d, 2d) of them, so they are for few variables, and for rows that
arrive in batches or must stay where they are.
"""

import json
import math
from copy import copy
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Literal, overload

import numpy as np
from sklearn.utils import check_array

from vanishing._threads import fold, one_blas_thread, threads
from vanishing._types import FloatArray, Names, Table, Vector
from vanishing._warnings import warn
from vanishing.algebra import monomials
from vanishing.algebra.evaluation import chunk_rows, evaluate, stretches
from vanishing.checks import check_nonnegative, check_number, per_column
from vanishing.persistence.files import read_bounded, write_atomically
from vanishing.rows.noise import Debiasing, estimate
from vanishing.rows.reader import Measured, RowReader
from vanishing.rows.source import RowLayout
from vanishing.rows.validation import naming_text

FORMAT, VERSION = "vanishing-moments", 2
MAX_MOMENTS = 2_000_000
_MAX_BYTES = 1 << 27  # of a file; a number takes up to 26 bytes


class MomentsFileError(ValueError):
    """A file whose moments cannot be loaded."""


class Moments:
    """All moments of data up to degree ``2 * max_degree``, accumulated batch by batch.

    Scale all rows in the same way first, best into [0, 1] or [-1, 1], by a range known in advance.

    Parameters
    ----------
    n_features : int
        Columns of the rows.
    max_degree : int
        Largest degree of the generators that can be found.
    feature_names : sequence of str, default=None
        Names of the columns.

    Attributes
    ----------
    n_features, max_degree : int
        As given.
    feature_names : tuple of str or None
        As given.
    n_samples : int
        Rows of positive weight so far.
    total_weight : float
        The sum of their weights.
    terms : ndarray of shape (n_moments, n_features)
        Exponents, in DegLex order.
    sums : ndarray of shape (n_moments,)
        Weighted sums of these monomials over the rows.
    noise : ndarray of shape (n_features,) or None
        Standard deviation of the noise that `debiased` has taken out.

    See Also
    --------
    Blocks : Rows in blocks, read anew in each pass of a fit.
    error_bars : Standard errors of coefficients, from moments or rows.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI, Moments
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> first, second = Moments(2, max_degree=2), Moments(2, max_degree=2)
    >>> both = first.update(X[:50]) + second.update(X[50:])
    >>> print(OAVI(psi=1e-6, oracle="ls", max_degree=2).fit_moments(both).generators_[0])
    x1^2 + x0^2 - 1
    """

    def __init__(self, n_features: int, max_degree: int, *, feature_names: Names | None = None):
        check_number("n_features", n_features, low=1, integer=True)
        check_number("max_degree", max_degree, low=1, high=monomials.MAX_DEGREE // 2, integer=True)
        n_moments = math.comb(n_features + 2 * max_degree, 2 * max_degree)
        if n_moments > MAX_MOMENTS:
            raise ValueError(
                f"{n_features} columns have {n_moments} moments up to degree {2 * max_degree}, "
                f"more than {MAX_MOMENTS}. Take a smaller max_degree, or fit to the rows."
            )
        if feature_names is not None:
            feature_names = tuple(map(str, feature_names))
            if len(feature_names) != n_features:
                raise ValueError(
                    f"feature_names must be {n_features} names; got {len(feature_names)}."
                )
        self.n_features = int(n_features)
        self.max_degree = int(max_degree)
        self.feature_names = feature_names
        self.terms = monomials.terms_of(
            monomials.plan_up_to(self.n_features, 2 * self.max_degree), self.n_features
        )
        keys = monomials.keys(self.terms)
        self._order = np.argsort(keys, kind="stable")  # keys compare as terms within a degree only
        self._keys = keys[self._order]
        self._plan, self._position = monomials.plan(self.terms)
        self.sums = np.zeros(len(self.terms))
        self.n_samples = 0
        self.noise: np.ndarray | None = None

    @property
    def layout(self) -> RowLayout:
        """Number, names and dtype of the columns."""
        return RowLayout(self.n_features, self.feature_names, "float64")

    def update(
        self, X: Table, sample_weight: Vector | None = None, *, n_jobs: int | None = None
    ) -> "Moments":
        """Add rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows, in the same unit in all updates.
        n_jobs : int or None, default=None
            Threads over chunks of rows; the sums are the same. -1 means all cores.

        Returns
        -------
        self : Moments
        """
        if self.noise is not None:
            raise ValueError(
                "debiased moments take no more rows: update the moments they come from, and debias "
                "those again."
            )
        with naming_text(X):
            X = check_array(X, dtype=[np.float64, np.float32])
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} columns; these moments are of {self.n_features}.")
        if sample_weight is not None:
            # In their own unit, which is that of other updates; a batch may have no weight at all.
            sample_weight = check_nonnegative(sample_weight, len(X))
        with one_blas_thread(), threads(n_jobs), np.errstate(over="ignore", invalid="ignore"):
            sums = self.sums + self._sums(X, sample_weight)
        if not np.isfinite(sums).all():
            raise ValueError(
                f"moments of degree {2 * self.max_degree} overflow on these rows. Scale the data, "
                "for example into [0, 1]."
            )
        counted = len(X) if sample_weight is None else int(np.count_nonzero(sample_weight))
        self.sums, self.n_samples = (
            sums,
            self.n_samples + counted,
        )  # both or neither
        return self

    def _sums(self, X: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return the weighted sums of all monomials over rows."""
        n_terms = self._plan.parent.size
        rows = chunk_rows(n_terms, None)

        def of(cut: slice) -> np.ndarray:
            w = np.ones(cut.stop - cut.start) if weight is None else weight[cut]
            sums = np.zeros(n_terms)
            for chunk, values in evaluate(X[cut], self._plan, rows=rows):
                sums += values @ w[chunk]
            return sums

        cuts = stretches(len(X), rows, 2 * n_terms)
        return fold(of, cuts, np.add, len(cuts))[self._position]

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all rows: the moment of the constant."""
        return float(self.sums[0])

    def __add__(self, other) -> "Moments":
        """Return the moments of both sets of rows together."""
        if not isinstance(other, Moments):
            return NotImplemented
        first, second = ((m.n_features, m.max_degree, m.feature_names) for m in (self, other))
        if first != second:
            raise ValueError(
                "only moments of the same columns and max_degree can be added; these have "
                f"(n_features, max_degree, feature_names) {first} and {second}."
            )
        noises = [_noise_text(moments.noise) for moments in (self, other)]
        if noises[0] != noises[1]:
            raise ValueError(
                f"only moments that are debiased alike can be added; their noise is {noises[0]} "
                f"and {noises[1]}. Add them first, then debias the sum."
            )
        merged = self._like(self.sums + other.sums)
        merged.n_samples += other.n_samples
        return merged

    def _like(self, sums) -> "Moments":
        """Return moments of the same rows and columns with other sums."""
        moments = copy(self)
        moments.sums = sums
        return moments

    # -- Noise --------------------------------------------------------------------------------

    @cached_property
    def debias(self) -> Debiasing:
        """The map from these sums and a noise to sums without it."""
        return Debiasing(self.terms, self.positions)

    def debiased(self, noise: float | Vector) -> "Moments":
        """Return the moments that the rows would have without noise in the columns.

        They are exact up to sampling error, which grows with noise and degree, for independent
        Gaussian noise of this standard deviation, whatever the rows are. If the noise is larger
        than given, the rest of it stays in. If it is smaller, mean squares may become negative, and
        a fit to the moments issues a warning.

        Parameters
        ----------
        noise : float or array-like of shape (n_features,)
            Standard deviation of the noise, of all columns or of each; 0 where there is none.

        Returns
        -------
        moments : Moments
            They remember ``noise``, take no more rows, and add only to moments debiased alike.

        Examples
        --------
        >>> import numpy as np
        >>> from vanishing import Moments
        >>> x = np.random.default_rng(0).normal(size=(10000, 1))
        >>> raw = Moments(1, max_degree=1).update(3.0 + 0.5 * x)
        >>> float((raw.sums / raw.n_samples)[2].round(1)), 3.0**2
        (9.3, 9.0)
        >>> clean = raw.debiased(0.5)
        >>> float((clean.sums / clean.n_samples)[2].round(1))
        9.0
        """
        if self.noise is not None:
            raise ValueError(
                f"these moments are debiased already, for noise {_noise_text(self.noise)}: debias "
                "the moments they come from."
            )
        noise = self.check_noise(noise)
        with np.errstate(over="ignore", invalid="ignore"):
            moments = self._like(self.debias(self.sums, noise))
        if not np.isfinite(moments.sums).all():
            raise ValueError(f"debiased moments of degree {2 * self.max_degree} overflow.")
        moments.noise = noise
        return moments

    @overload
    def estimate_noise(
        self, ratio: Vector | None = None, *, return_std: Literal[False] = False
    ) -> FloatArray: ...
    @overload
    def estimate_noise(
        self, ratio: Vector | None = None, *, return_std: Literal[True]
    ) -> tuple[FloatArray, FloatArray]: ...
    def estimate_noise(self, ratio=None, *, return_std=False):
        """Estimate the standard deviation of Gaussian noise in the columns from a law they obey.

        The estimate is the largest noise that can be taken out before a mean square becomes
        negative: then a polynomial vanishes on what is left. Such a value exists for rows without
        any law, too, but it falls as the degree rises. So take moments of a higher degree than
        that of the law: they confirm it. At the highest degree, which none confirms, a law is
        accepted if the noise is far smaller there than one degree below.

        Parameters
        ----------
        ratio : array-like of shape (n_features,), default=None
            How large the noise is in each column relative to the others, 0 where there is none;
            None means the same in all columns.
        return_std : bool, default=False
            Whether to return the standard error of the estimate, too.

        Returns
        -------
        noise : float, or ndarray of shape (n_features,) where ``ratio`` is given
            nan, and a warning, where no law is found.
        std : the same, if ``return_std``

        Examples
        --------
        >>> import numpy as np
        >>> from vanishing import Moments
        >>> rng = np.random.default_rng(0)
        >>> angle = rng.uniform(0, np.pi, 2000)
        >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
        >>> noisy = circle + 0.1 * rng.normal(size=circle.shape)
        >>> noise = Moments(2, max_degree=3).update(noisy).estimate_noise()
        >>> round(noise, 2)
        0.1
        """
        if self.noise is not None:
            raise ValueError("these moments are debiased already: ask those they come from.")
        if not self.n_samples:
            raise ValueError("the moments are of no rows: update them first.")
        ratios = per_column("ratio", 1.0 if ratio is None else ratio, self.n_features)
        if not ratios.any():
            raise ValueError("ratio is zero for all columns: there would be no noise.")
        with one_blas_thread():
            estimates = estimate(self, ratios)
        if np.isnan(estimates[0]):
            warn(
                "no law is found, so the noise cannot be estimated: it falls with each degree. "
                "Take moments of a higher degree, or give the noise yourself."
            )
        noise, std = estimates if ratio is None else (value * ratios for value in estimates)
        return (noise, std) if return_std else noise

    def check_noise(self, noise: float | Vector) -> np.ndarray:
        """Return the noise of each column, or raise ValueError."""
        return per_column("noise", noise, self.n_features)

    def __radd__(self, other):
        """Let sum() start from 0."""
        if not isinstance(other, int) or other != 0:
            return NotImplemented
        return self._like(self.sums.copy())

    def __repr__(self) -> str:
        return (
            f"<{len(self.terms)} moments of {self.n_samples} rows, {self.n_features} columns, for "
            f"generators of degree up to {self.max_degree}>"
        )

    def __eq__(self, other) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        return self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]  # Python's way to say that there is none

    def _content(self) -> dict:
        return {
            "n_features": self.n_features,
            "max_degree": self.max_degree,
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "n_samples": self.n_samples,
            "total_weight": self.total_weight,
            **({} if self.noise is None else {"noise": self.noise.tolist()}),
            "sums": self.sums.tolist(),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the moments to a JSON file: exactly, and in one step or not at all.

        Parameters
        ----------
        path : path-like
        """
        version = 1 if self.noise is None else VERSION  # which readers of version 1 refuse
        content = {"format": FORMAT, "version": version, **self._content()}
        write_atomically(Path(path), json.dumps(content, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Moments":
        """Read moments that `save` wrote.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        moments : Moments
        """
        try:
            content = read_bounded(Path(path), _MAX_BYTES).decode()
            return cls._from_content(json.loads(content))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise MomentsFileError(
                f"{path} holds no moments that can be loaded: {type(error).__name__}: {error}"
            ) from error

    @classmethod
    def _from_content(cls, content: dict) -> "Moments":
        version = content["version"]
        if content["format"] != FORMAT or type(version) is not int or not 1 <= version <= VERSION:
            raise ValueError(f"it is not of format {FORMAT}, versions 1 to {VERSION}")
        names = content["feature_names"]
        if names is not None and not (
            isinstance(names, list) and all(isinstance(name, str) for name in names)
        ):
            raise ValueError("feature_names are not names")
        sums = content["sums"]
        numbers = [*sums, content["total_weight"]]
        if not all(type(value) is float and math.isfinite(value) for value in numbers):
            raise ValueError("sums and total_weight are not finite numbers")
        check_number("n_samples", content["n_samples"], low=0, integer=True)
        for name in ("n_features", "max_degree"):
            check_number(name, content[name], low=1, high=monomials.MAX_DEGREE, integer=True)
        n_features, degree = content["n_features"], 2 * content["max_degree"]
        if len(sums) != math.comb(n_features + degree, degree):  # before anything is allocated
            raise ValueError(f"there are {len(sums)} sums, which is not what its sizes say")
        moments = cls(n_features, content["max_degree"], feature_names=names)
        moments.sums = np.array(sums)
        moments.n_samples = content["n_samples"]
        if moments.total_weight != content["total_weight"]:
            raise ValueError("the sum of the constant is not the total weight")
        if moments.total_weight < 0 or (moments.total_weight > 0) != (moments.n_samples > 0):
            raise ValueError("the total weight does not fit the number of rows")
        if version > 1:
            noise = content["noise"]
            if not isinstance(noise, list) or not all(type(value) is float for value in noise):
                raise ValueError("noise is no list of numbers")
            moments.noise = moments.check_noise(noise)
        return moments

    def positions(self, terms: np.ndarray) -> np.ndarray:
        """Return the places of terms, given by their exponents, among the moments."""
        known, position = monomials.contains(self._keys, monomials.keys(terms))
        if not known.all():
            raise ValueError("a term is of a higher degree than the moments")
        return self._order[position]


def _noise_text(noise) -> str:
    return "none" if noise is None else str(noise.tolist())


class MomentReader(RowReader):
    """A reader of moments instead of rows: it knows products, and cannot evaluate anything."""

    sees_rows = False

    def __init__(self, moments: Moments):
        if not moments.n_samples:
            raise ValueError("the moments are of no rows: update them first.")
        self.moments = moments
        self.n_features = moments.n_features
        self.n_samples = moments.n_samples
        self.total_weight = moments.total_weight
        self.max_degree = moments.max_degree
        self.means = moments.sums / moments.total_weight

    def _gram(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        pairs = left[:, np.newaxis] + right
        position = self.moments.positions(pairs.reshape(-1, self.n_features))
        return self.means[position].reshape(pairs.shape[:2])

    def products(self, plan, left, right):
        """Return the moments mean(t u) for t in ``left`` and u in ``right``, and mean(u^2)."""
        terms = monomials.terms_of(plan, self.n_features)
        squares = self.means[self.moments.positions(2 * terms[right])]
        return self._gram(terms[left], terms[right]), squares

    def mse(self, plan, terms, coef, leading):
        """Return the mse of polynomials ``coef @ terms + leading``, from the moments."""
        exponents = monomials.terms_of(plan, self.n_features)
        terms, leading = exponents[terms], exponents[leading]
        squares = self.means[self.moments.positions(2 * leading)]
        squares = squares + 2.0 * np.einsum("ij,ji->i", coef, self._gram(terms, leading))
        squares = squares + np.einsum("ij,ij->i", coef @ self._gram(terms, terms), coef)
        return np.maximum(squares, 0.0)

    def measured(self, plan, terms, coef, leading):
        """Return the mse of polynomials; nothing else is known of the rows."""
        return Measured(self.mse(plan, terms, coef, leading))

    def correlations(self):
        """Return the Pearson correlations of the columns; zero for constant columns."""
        variables = np.eye(self.n_features, dtype=monomials.EXPONENT)
        mean = self.means[self.moments.positions(variables)]
        covariance = self._gram(variables, variables) - np.outer(mean, mean)
        spread = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        spread[spread <= 1e-7 * np.abs(mean)] = np.inf
        return covariance / np.outer(spread, spread)
