"""Forms fitted to rows: linear constants solved for, the others on a grid, then least squares."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numba
import numpy as np

from vanishing.equations.forms import FORMS, Form
from vanishing.fitting.normal import inverse
from vanishing.laws import settings
from vanishing.laws.form_grids import checked_start, grid_of
from vanishing.laws.forms import FormFit
from vanishing.laws.problem import Reduced
from vanishing.laws.refit import Fitted

_TINY = 1e-300
_RIDGE = 1e-13  # below which normal equations may be singular in rounding
_SAME_END = (
    1e-3  # share of the squares by which two ends on few rows differ on all, if they are one
)
_CHUNK = 400_000  # values of a form on a grid that are held at a time


class FormRows(NamedTuple):
    """Rows of a form, in the units of the table: y = pull * form(variables), both weighted.

    Attributes
    ----------
    variables : array of shape (n_variables, n_rows)
    pull : array of shape (n_rows,)
        The factor before the form, times the root of the rows' weights.
    y : array of shape (n_rows,)
        The target times these roots.
    weight : array of shape (n_rows,)
    """

    variables: np.ndarray
    pull: np.ndarray
    y: np.ndarray
    weight: np.ndarray

    def few(self, count: int) -> "FormRows":
        """Return at most so many rows, evenly out of all in the order of the first variable."""
        n_rows = len(self.y)
        if n_rows <= count:
            return self
        order = np.argsort(self.variables[0], kind="stable")
        chosen = order[np.linspace(0, n_rows - 1, count).round().astype(int)]
        return FormRows(*(part[..., chosen] for part in self))


def _arrays(form: Form, rows: FormRows, constants: np.ndarray) -> list[np.ndarray]:
    variables = [row[np.newaxis, :] for row in rows.variables]
    return [*variables, *(constants[:, k, np.newaxis] for k in range(constants.shape[1]))]


def _values(form: Form, rows: FormRows, constants: np.ndarray) -> np.ndarray:
    """Return what a form says of weighted rows, shape (n_starts, n_rows)."""
    values = np.empty((len(constants), len(rows.y)))
    return np.multiply(form.value.value(_arrays(form, rows, constants)), rows.pull, out=values)


def _values_and_slopes(
    form: Form, rows: FormRows, constants: np.ndarray, places
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same, and derivatives by some constants, shape (n_starts, n_places, n_rows)."""
    wanted = [form.n_variables + k for k in places]
    value, gradient = form.value.value_and_gradient(_arrays(form, rows, constants), wanted)
    values = np.empty((len(constants), len(rows.y)))
    slopes = np.empty((len(constants), len(wanted), len(rows.y)))
    np.multiply(value, rows.pull, out=values)
    for k, slope in enumerate(gradient):
        np.multiply(slope, rows.pull, out=slopes[:, k])
    return values, slopes


@numba.njit(cache=True, error_model="numpy")
def _solve(gram, cross, damping):
    """Solve systems of normal equations, one per start, damped in units of their diagonals.

    Zero where numbers are not finite. Rows are exchanged as elimination needs it.
    """
    n_starts, k = cross.shape
    solved = np.zeros((n_starts, k))
    size, left = np.empty(k), np.empty((k, k + 1))
    for s in range(n_starts):
        if not (np.isfinite(gram[s]).all() and np.isfinite(cross[s]).all()):
            continue
        for i in range(k):
            size[i] = np.sqrt(max(gram[s, i, i], _TINY))
        for i in range(k):
            for j in range(k):
                left[i, j] = gram[s, i, j] / size[i] / size[j]
            left[i, i] += max(damping[s], _RIDGE)
            left[i, k] = cross[s, i] / size[i]
        for i in range(k):
            pivot = i
            for j in range(i + 1, k):
                if abs(left[j, i]) > abs(left[pivot, i]):
                    pivot = j
            for j in range(i, k + 1):
                left[i, j], left[pivot, j] = left[pivot, j], left[i, j]
            for row in range(i + 1, k):
                factor = left[row, i] / left[i, i]
                for j in range(i + 1, k + 1):
                    left[row, j] -= factor * left[i, j]
        for i in range(k - 1, -1, -1):
            value = left[i, k]
            for j in range(i + 1, k):
                value -= left[i, j] * solved[s, j]
            solved[s, i] = value / left[i, i]
        for i in range(k):
            solved[s, i] /= size[i]
    return solved


def _with_linear(
    form: Form, rows: FormRows, constants: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return starts with their linear constants solved for, and the squares that are left."""
    linear = list(form.linear)
    if not linear:
        return constants, _losses(rows, _values(form, rows, constants))
    constants = constants.copy()
    values, basis = _values_and_slopes(form, rows, constants, linear)
    rest = rows.y - (values - _combined(constants[:, linear], basis))
    gram = basis @ basis.transpose(0, 2, 1)
    cross = (basis @ rest[:, :, None])[:, :, 0]
    solved = _solve(gram, cross, np.zeros(len(constants)))
    constants[:, linear] = solved
    return constants, _losses(rows, rows.y - rest + _combined(solved, basis))


def _combined(numbers: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return sums of rows times numbers, for each start."""
    return (numbers[:, None, :] @ basis)[:, 0]


def _losses(rows: FormRows, values: np.ndarray) -> np.ndarray:
    losses = np.sum((rows.y - values) ** 2, axis=1)
    return np.where(np.isfinite(losses), losses, np.inf)


def _starts(form: Form, rows: FormRows, given: Mapping[str, float]) -> np.ndarray:
    """Return the best points of the grid, linear constants solved for."""
    count = settings.FORM_STARTS
    with np.errstate(all="ignore"):
        y = rows.y / rows.pull
    y = np.where(np.isfinite(y), y, 0.0)
    points = grid_of(form, rows.variables, y, given)
    step = max(1, _CHUNK // len(rows.y))
    kept: list[np.ndarray] = []
    losses: list[np.ndarray] = []
    for begin in range(0, len(points), step):
        constants = np.ones((len(points[begin : begin + step]), len(form.constants)))
        constants[:, list(form.inner)] = points[begin : begin + step]
        constants, loss = _with_linear(form, rows, constants)
        best = np.argsort(loss, kind="stable")[:count]
        kept.append(constants[best])
        losses.append(loss[best])
    constants, loss = np.concatenate(kept), np.concatenate(losses)
    best = np.argsort(loss, kind="stable")[:count]
    starts = constants[best][np.isfinite(loss[best])]
    if form.own:
        return starts
    # What is no form of the library may need more care to find.
    more = checked_start(form, rows.variables, y, rows.pull**2)
    return starts if more is None else np.vstack([starts, more])


def _refined(
    form: Form, rows: FormRows, constants: np.ndarray, max_steps: int, least_gain: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return where steps of Levenberg and Marquardt lead from starts, and the squares left there.

    All starts go together; linear constants are solved for after each step.
    """
    every = range(len(form.constants))
    constants, loss = _with_linear(form, rows, constants)
    damping = np.full(len(constants), 1e-3)
    still = np.isfinite(loss)
    for _ in range(max_steps):
        if not still.any():
            break
        at = constants[still]
        values, jacobian = _values_and_slopes(form, rows, at, every)
        gram = jacobian @ jacobian.transpose(0, 2, 1)
        cross = (jacobian @ (rows.y - values)[:, :, None])[:, :, 0]
        step = _solve(gram, cross, damping[still])
        trial, trial_loss = _with_linear(form, rows, at + step)
        better = trial_loss < loss[still]
        gain = np.where(better, 1.0 - trial_loss / loss[still], 0.0)
        constants[still] = np.where(better[:, None], trial, at)
        loss[still] = np.where(better, trial_loss, loss[still])
        damping[still] *= np.where(better, 0.1, 10.0)
        going = np.where(better, gain > least_gain, damping[still] < 1e3)
        still[still] = going
    return constants, loss


@np.errstate(all="ignore")
def form_fits(
    reduced: Reduced, forms: Sequence[Form], noise: float, progress: Callable
) -> list[Fitted]:
    """Fit forms to the rows of a state that has as many variables.

    Parameters
    ----------
    reduced : Reduced
    forms : sequence of Form
    noise : float
        The least mean square that is known: what forms have to come near to.
    progress : callable
        Called before each fit: it may raise, to interrupt.
    """
    fits, problem = [], FormProblem(reduced)
    for form in forms:
        for places in _places(reduced, form):
            progress()
            fit = form_fit(problem, form, places, noise)
            if fit is not None:
                fits.append(fit)
    return fits


Place = tuple[int, float]  # a variable of a state, and 1 or -1 for it or its inverse


def _places(reduced: Reduced, form: Form) -> Iterator[tuple[Place, ...]]:
    """Yield the variables of a state that those of a form may be.

    Whether a combination of columns is taken or its inverse is arbitrary.
    """
    rows = reduced.state.variables
    is_product = len(rows) == 1 and np.count_nonzero(rows[0]) > 1 and not reduced.state.summands
    # A power of a product of powers has an exponent for each column, which are fitted all alike.
    if form.n_variables != len(rows) or (is_product and form is FORMS["power law"]):
        return
    if form.counts and (is_product or not _counts(reduced)):
        return
    yield tuple((i, 1.0) for i in range(len(rows)))
    if is_product:
        yield ((0, -1.0),)
    if len(rows) == 2:
        yield ((1, 1.0), (0, 1.0))


def _counts(reduced: Reduced) -> bool:
    """Say whether the only variable of a state is a column of whole numbers."""
    units = np.exp(reduced.state.variables @ reduced.table.log_units)
    values = units[0] * reduced.w[0]
    near = np.abs(values - np.round(values)) <= settings.ROUNDED * np.maximum(np.abs(values), 1.0)
    return bool(near.all())


class FormProblem:
    """The rows of a state, for forms in its variables: all, and some for grids and first steps.

    Parameters
    ----------
    reduced : Reduced
    """

    def __init__(self, reduced: Reduced):
        self.reduced = reduced
        self._rows: dict[tuple[Place, ...], tuple[FormRows, FormRows, FormRows]] = {}

    def rows(self, places: tuple[Place, ...]) -> tuple[FormRows, FormRows, FormRows]:
        """Return the rows of forms in these variables: all, for steps, and for grids."""
        if places not in self._rows:
            rows = _form_rows(self.reduced, places)
            self._rows[places] = (
                rows,
                rows.few(settings.FORM_ROWS),
                rows.few(settings.FORM_GRID_ROWS),
            )
        return self._rows[places]


def _form_rows(reduced: Reduced, places: Sequence[Place]) -> FormRows:
    """Return the rows of a form in the units of the table; columns below zero have their size."""
    table, state, root = reduced.table, reduced.state, reduced.root
    units = np.exp(state.variables @ table.log_units)
    variables = [(units[i] * reduced.w[i]) ** sign for i, sign in places]
    factor = reduced.factor * np.exp(state.factor @ table.log_units)
    return FormRows(np.array(variables), factor * root, table.y * table.unit * root, table.weight)


def form_fit(
    problem: FormProblem,
    form: Form,
    places: tuple[Place, ...],
    noise: float,
    given: Mapping[str, float] | None = None,
) -> Fitted | None:
    """Return a form fitted to all rows; None where it does not come near to the noise.

    ``given`` has constants that are known to be near some values.
    """
    reduced = problem.reduced
    table, (rows, few, grid) = reduced.table, problem.rows(places)
    is_finite = all(np.isfinite(part).all() for part in rows)
    if not is_finite or table.n_observations <= len(form.constants):
        return None
    starts = _starts(form, grid, given or {})
    if not len(starts):
        return None
    ends, losses = _refined(form, few, starts, settings.FORM_STEPS, 1e-4)
    # What is larger by this in score is of no interest.
    least = max(noise, settings.FORM_FLOOR * table.norm) * table.unit**2
    most = np.exp(settings.FORM_REACH / table.n_observations) * least
    best = np.argsort(losses, kind="stable")[:2]
    if not losses[best[0]] <= settings.FORM_SLACK * most * float(few.weight.sum()):
        return None
    ends = ends[best]
    if few is not rows:  # a look at all rows costs less than steps on them
        ends, losses = _with_linear(form, rows, ends)
        if len(ends) > 1 and abs(losses[1] - losses[0]) < _SAME_END * losses[0]:
            ends, losses = ends[:1], losses[:1]
        ends = ends[losses <= settings.FORM_NEAR * most * float(rows.weight.sum())]
        if not len(ends):
            return None
    # Steps that change a score by less lead nowhere: constants that rows do not determine.
    enough = settings.FORM_STEP_GAIN / table.n_observations
    ends, losses = _refined(form, rows, ends, settings.FORM_LAST_STEPS, enough)
    return _fitted(reduced, form, places, rows, ends[int(np.argmin(losses))])


def _fitted(
    reduced: Reduced, form: Form, places: Sequence[Place], rows: FormRows, values: np.ndarray
) -> Fitted | None:
    """Return a form as a law of the table; None where its constants are not what they should be."""
    values = _normal(form, values)
    named = dict(zip(form.constants, values, strict=True))
    if not all(named[name] > 0.0 for name in form.positive):
        return None
    table, every = reduced.table, range(len(values))
    (said,), (slopes,) = _values_and_slopes(form, rows, values[np.newaxis], every)
    covariance = inverse(slopes @ slopes.T)
    if not (np.isfinite(slopes).all() and np.isfinite(covariance).all()):
        return None
    predicted = said / reduced.root / table.unit
    mean_square = reduced.mean((table.y - predicted) ** 2)
    state = reduced.state
    fit = FormFit(
        form,
        tuple(sign * state.variables[i] for i, sign in places),
        tuple(state.summands.get(i) for i, _ in places),
        state.factor,
        slopes / reduced.root / table.unit,
        _sizes(form, rows, values, slopes),
    )
    return Fitted(
        (),
        values,
        -1,
        covariance * table.unit**2,
        mean_square,
        predicted,
        np.sum(slopes * (covariance @ slopes), axis=0),
        mean_square <= table.exact**2 * table.norm,
        fit,
    )


def _normal(form: Form, values: np.ndarray) -> np.ndarray:
    """Return constants that say the same, and are written as usual."""
    if form.normal is None:
        return values
    named = form.normal(dict(zip(form.constants, values.tolist(), strict=True)))
    return np.array([named[name] for name in form.constants])


def _sizes(form: Form, rows: FormRows, values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return what the errors of constants are small beside, if rows determine these.

    Places, phases, levels and slopes may be zero: they are known beside the ranges of the variable
    and of the target. A place far from all rows is none.
    """
    x = rows.variables[0]
    low, high = float(x.min()), float(x.max())
    with np.errstate(all="ignore"):
        of_y = float(np.std(rows.y / rows.pull))
    span = high - low
    ranges = {"place": span, "inner place": span, "shift": span, "phase": np.pi}
    ranges["slope"] = of_y / span
    sizes = np.abs(values)
    for k, name in enumerate(form.constants):
        kind = form.kinds.get(name, "")
        if form.own and np.array_equal(slopes[k], rows.pull):  # it is added to all else: a level
            sizes[k] = of_y
        elif kind == "place" and abs(2 * values[k] - low - high) > settings.OUTSIDE * span:
            sizes[k] = np.nan
        else:
            sizes[k] = ranges.get(kind, sizes[k])
    return sizes
