"""The estimator `EllipsoidCalibration`: offset and matrix of a sensor, from its readings."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing._threads import one_blas_thread
from vanishing._types import Array, FloatArray, Names, ObjectArray, Table, Vector
from vanishing._warnings import warn
from vanishing.calibration import settings
from vanishing.calibration.quadric import QuadricFit, Terms, fitted_quadric, right_points
from vanishing.checks import check_flag
from vanishing.estimators.bases import BaseEstimator, TransformerMixin
from vanishing.estimators.fits import all_or_nothing
from vanishing.estimators.names import input_names
from vanishing.estimators.row_methods import RowTransformer, row_by_row
from vanishing.estimators.saving import Savable
from vanishing.fitting.sample import row_keys
from vanishing.persistence import register
from vanishing.rows.intake import take_rows_in_memory

_STEP = 1e-6  # of coefficients, for derivatives


class EllipsoidCalibration(Savable, RowTransformer, TransformerMixin, BaseEstimator):
    """Calibrate a sensor whose readings should be on a sphere: magnetometers, accelerometers.

    Turned in all directions, a sensor reads points on an ellipsoid. Its centre is the offset (hard
    iron, bias); the matrix turns it into a sphere (soft iron, scale factors, axes that are not at
    right angles). Two columns are circles and ellipses.

    Parameters
    ----------
    noise : float or array-like of shape (n_features,), default=None
        Standard deviation of the readings' noise. None: the same in all columns, and estimated.
    robust : bool, default=True
        Whether rows may be wrong: those farther from the ellipsoid than noise explains are left
        out.

    Attributes
    ----------
    center_, center_std_ : ndarray of shape (n_features_in_,)
        The centre and its standard errors. Where the readings lie on no ellipsoid, the centre is
        NaN and its errors are infinite; so are those of the matrix and the radius.
    matrix_, matrix_std_ : ndarray of shape (n_features_in_, n_features_in_)
        Symmetric, of determinant 1: ``(x - center_) @ matrix_`` is on a sphere. A rotation of the
        sensor cannot be seen in its readings, so that none is in the matrix.
    radius_, radius_std_ : float
        Radius of that sphere, in units of the readings.
    noise_ : ndarray of shape (n_features_in_,)
        Standard deviation of the noise.
    n_wrong_ : int
        How many rows were left out.
    is_determined_ : bool
        Whether the readings determine the ellipsoid.
    verdict_ : str
        The same in a sentence: the error of the centre, or the reason why there is none.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Names of the columns; only where X has names.

    See Also
    --------
    vanishing.export.to_c : The calibration as a function for the sensor's firmware.
    vanishing.plot.CalibrationDisplay : Readings before and after.

    Notes
    -----
    A quadric in 1, x, y, z and their products is fitted to moments freed from noise; least squares
    would make the ellipsoid too small. Errors follow from how much rows say of the coefficients.
    Where readings do not determine all products, as those in six positions, the axes of the
    ellipsoid are taken to be those of the sensor, and the verdict says so.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import EllipsoidCalibration
    >>> random = np.random.default_rng(0)
    >>> u = random.normal(size=(500, 3))
    >>> u /= np.linalg.norm(u, axis=1)[:, np.newaxis]
    >>> X = [10, -20, 5] + 50 * u * [1.1, 1.0, 0.9] + 0.5 * random.normal(size=(500, 3))
    >>> calibration = EllipsoidCalibration().fit(X)
    >>> calibration.center_.round()
    array([ 10., -20.,   5.])
    >>> np.linalg.norm(calibration.transform(X), axis=1).std().round(1)
    np.float64(0.5)
    """

    fits_sources = False

    center_: FloatArray
    center_std_: FloatArray
    matrix_: FloatArray
    matrix_std_: FloatArray
    radius_: float
    radius_std_: float
    noise_: FloatArray
    n_wrong_: int
    is_determined_: bool
    verdict_: str
    n_features_in_: int
    feature_names_in_: ObjectArray

    def __init__(self, *, noise: float | Vector | None = None, robust: bool = True):
        self.noise = noise
        self.robust = robust

    def check_parameters(self) -> None:
        """Raise TypeError or ValueError unless the parameters are valid."""
        check_flag("robust", self.robust)

    def fit(self, X: Table, y: object = None) -> Self:
        """Fit the ellipsoid.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Readings of two or three axes, in the same unit.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        self.check_parameters()
        with all_or_nothing(self), one_blas_thread():
            rows = np.array(take_rows_in_memory(self, X).X, dtype=np.float64)
            n = rows.shape[1]
            if n < 2:
                raise ValueError("n_features = 1: an ellipse needs at least two columns.")
            noise = _per_column(self.noise, n)
            # In an order of their own, rows give the same sums in whatever order they come.
            rows = rows[np.argsort(row_keys(rows.T, 0), kind="stable")]
            answer = _Answer.of(rows, noise, bool(self.robust))
            self.center_, self.center_std_ = answer.center, answer.std.center
            self.matrix_, self.matrix_std_ = answer.matrix, answer.std.matrix
            self.radius_, self.radius_std_ = answer.radius, answer.std.radius
            self.noise_, self.n_wrong_ = answer.noise, answer.n_wrong
            self.is_determined_ = answer.is_determined
            self.verdict_ = answer.verdict(len(rows), [str(name) for name in input_names(self)])
        if not self.is_determined_:
            warn(self.verdict_)
        return self

    @row_by_row(n_columns=lambda self: self.n_features_in_, dtype=lambda self: np.float64)
    def transform(self, X: Array) -> FloatArray:
        """Return calibrated readings, which are on a sphere of radius `radius_` about 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a source of rows

        Returns
        -------
        calibrated : ndarray of shape (n_samples, n_features)
            NaN where the readings of the fit lie on no ellipsoid.
        """
        return (np.asarray(X, dtype=np.float64) - self.center_) @ self.matrix_

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


def _per_column(noise, n_columns: int) -> np.ndarray | None:
    if noise is None:
        return None
    numbers = np.array(noise, dtype=np.float64)
    if numbers.shape not in [(), (n_columns,)]:
        raise ValueError(
            f"noise must be a number, or one per column, {n_columns} of them; got an array of "
            f"shape {numbers.shape}."
        )
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise ValueError(f"noise must be finite and not negative; got {noise!r}.")
    return np.broadcast_to(numbers, (n_columns,)).copy()


# -- From a quadric to a calibration --------------------------------------------------------------


class _Shape(NamedTuple):
    """Centre, matrix and radius, or their standard errors."""

    center: np.ndarray
    matrix: np.ndarray
    radius: float


def _shape(terms: Terms, coef: np.ndarray) -> _Shape | None:
    """Return the ellipsoid of a quadric; None if it is none."""
    A, b, c = terms.parts(coef)
    try:
        center = -0.5 * np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return None
    inside = float(center @ A @ center) - c
    if not np.isfinite(inside) or inside == 0.0:
        return None
    sizes, axes = np.linalg.eigh(A / inside)
    if not sizes[0] > 0.0 or not np.isfinite(sizes).all():
        return None
    radius = float(np.exp(-0.5 * np.mean(np.log(sizes))))
    return _Shape(center, (axes * np.sqrt(sizes)) @ axes.T * radius, radius)


def _errors(terms: Terms, fit: QuadricFit, shape: _Shape) -> _Shape:
    """Return standard errors of a shape, by those of the coefficients."""
    sizes, vectors = np.linalg.eigh(fit.covariance)
    center, matrix = np.zeros_like(shape.center), np.zeros_like(shape.matrix)
    radius = 0.0
    for size, direction in zip(np.maximum(sizes, 0.0), vectors.T, strict=True):
        # Derivatives, in steps that are small beside the coefficients.
        more = _shape(terms, fit.coef + _STEP * direction)
        less = _shape(terms, fit.coef - _STEP * direction)
        if more is None or less is None:
            return _unknown(len(center), np.inf)
        share = size / (2.0 * _STEP) ** 2
        center += share * np.square(more.center - less.center)
        matrix += share * np.square(more.matrix - less.matrix)
        radius += share * (more.radius - less.radius) ** 2
    return _Shape(np.sqrt(center), np.sqrt(matrix), float(np.sqrt(radius)))


def _unknown(n_columns: int, value: float) -> _Shape:
    """Return a shape that is not known, or errors of one."""
    return _Shape(np.full(n_columns, value), np.full((n_columns, n_columns), value), value)


class _Answer(NamedTuple):
    """A calibration in units of the readings."""

    center: np.ndarray
    matrix: np.ndarray
    radius: float
    std: _Shape
    noise: np.ndarray
    n_wrong: int
    mixed: bool
    is_determined: bool

    @classmethod
    def of(cls, rows: np.ndarray, noise: np.ndarray | None, robust: bool) -> "_Answer":
        """Fit with products of columns or, where these are not determined, without."""
        with_products = cls._of_terms(Terms(rows.shape[1]), rows, noise, robust)
        if with_products.is_determined:
            return with_products
        without = cls._of_terms(Terms(rows.shape[1], mixed=False), rows, noise, robust)
        return without if without.is_determined else with_products

    @classmethod
    def _of_terms(
        cls, terms: Terms, rows: np.ndarray, noise: np.ndarray | None, robust: bool
    ) -> "_Answer":
        n = rows.shape[1]
        middle = np.median(rows, axis=0)
        scale = float(np.sqrt(np.mean(np.square(rows - middle)))) or 1.0
        points = (rows - middle) / scale
        unknown = _unknown(n, np.nan)
        nowhere = _unknown(n, np.inf)
        none = cls(*unknown, nowhere, np.full(n, np.nan), 0, terms.mixed, False)
        distinct = len(np.unique(points, axis=0))
        if distinct < len(terms) - 1:
            return none
        monomials = terms.monomials(points)
        of_points = None if noise is None else noise / scale
        used = np.ones(len(rows), dtype=bool)
        if robust and distinct > len(terms):
            used = right_points(terms, points, monomials, of_points)
        if used.sum() < len(terms) - 1:
            return none
        fit = fitted_quadric(terms, monomials, used, of_points)
        shape = _shape(terms, fit.coef)
        n_wrong = int(np.count_nonzero(~used))
        if shape is None:
            return none._replace(noise=fit.noise * scale, n_wrong=n_wrong)
        std = _errors(terms, fit, shape)
        if used.sum() <= len(terms):
            std = unknown  # as many numbers as rows: nothing is left to tell errors by
        std = _Shape(std.center * scale, std.matrix, std.radius * scale)
        errors = np.append(std.matrix, std.center / (shape.radius * scale))
        sure = not np.any(errors > settings.UNSURE)
        near = np.abs(shape.center).max() < 100.0 * shape.radius
        return cls(
            middle + scale * shape.center,
            shape.matrix,
            shape.radius * scale,
            std,
            fit.noise * scale,
            n_wrong,
            terms.mixed,
            bool(sure and near),
        )

    def verdict(self, n_rows: int, names: Sequence[str]) -> str:
        """Say how sure the calibration is, or why there is none."""
        wrong = ""
        if self.n_wrong:
            wrong = f" {self.n_wrong} of {n_rows} rows are wrong and were left out."
        if self.is_determined:
            error = float(np.max(self.std.center))
            text = "The readings determine an ellipsoid"
            if not self.mixed:
                text += " whose axes are those of the columns (they do not tell others)"
            if np.isfinite(error):
                text += (
                    f": its centre is known to within {error:.2g}, its radius is {self.radius:.4g}."
                )
            else:
                text += ". There are no more of them than numbers to fit: errors are not known."
            return text + wrong
        advice = " Turn the sensor in more directions."
        text = "The readings do not determine an ellipsoid"
        if not np.isfinite(self.center).all():
            return f"{text}: none fits them, or there are too few.{advice}{wrong}"
        worst = int(np.argmax(self.std.center + self.radius * self.std.matrix.diagonal()))
        return (
            f"{text}: along {names[worst]} its centre is unsure by {self.std.center[worst]:.2g}, "
            f"and its scale by {100 * self.std.matrix[worst, worst]:.2g} %.{advice}{wrong}"
        )


# -- What is saved --------------------------------------------------------------------------------

_ARRAYS = ("center", "center_std", "matrix", "matrix_std", "noise")


def _write(writer, model) -> dict:
    return {
        **writer.input(model),
        **{name: writer.array(getattr(model, f"{name}_"), name) for name in _ARRAYS},
        "radius": writer.float(model.radius_),
        "radius_std": writer.float(model.radius_std_),
        "n_wrong": int(model.n_wrong_),
        "is_determined": bool(model.is_determined_),
        "verdict": model.verdict_,
    }


def _read(reader, node, model):
    keys = (*_ARRAYS, "radius", "radius_std", "n_wrong", "is_determined", "verdict")
    *arrays, radius, radius_std, n_wrong, is_determined, verdict = reader.fitted(model, node, keys)
    n = model.n_features_in_
    for name, values in zip(_ARRAYS, arrays, strict=True):
        shape = (n, n) if name.startswith("matrix") else (n,)
        array = reader.array(values, name)
        sized = array.shape == shape and array.dtype.kind == "f"
        reader.require(sized, f"{name} has the wrong shape.")
        setattr(model, f"{name}_", np.asarray(array, dtype=np.float64))
    model.radius_ = reader.measured(radius, "radius")
    model.radius_std_ = reader.measured(radius_std, "radius_std")
    model.n_wrong_ = reader.integer(n_wrong, "n_wrong")
    reader.require(isinstance(is_determined, bool), "is_determined is not true or false.")
    model.is_determined_ = is_determined
    model.verdict_ = reader.string(verdict, "verdict")


register(EllipsoidCalibration, _write, _read)
