"""Equations of motion: what is found on systems of a table, on others, and on paths without any.

Each system of the table has two starts: equations are found along one run and judged along both. A
fit follows its run if the integrated equations have an R2 above .9 along it (all columns together,
weighted by their variance), from the other start likewise. Where the true equations from a start
that is .1 % off do not follow either, a run is judged in eight pieces. A fit is right if its
right-hand sides are within 1 % of the true ones on fresh states around both runs. Its terms are
right if the true right-hand sides are combinations of them within 1 %, and none of them is in vain.
Noise is relative to each value. Paths that obey no equations are Brownian paths, white noise,
Ornstein-Uhlenbeck processes, smooth random paths, hidden variables, forced systems, delays and
switching.

    python benchmarks/studies/motion.py equations --table systems.csv [--noise 0 .01 .03 .05]
        [--half] [--first N] [--only 25 27] [--own] [--paths 240] [--oscillators] [--pysindy]
        [--scale] [--pooled] [--inputs]
"""

import csv
import signal
import time
import warnings
import zlib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from sklearn.metrics import r2_score

from vanishing import EquationsOfMotion
from vanishing.algebra.formulas import Formula

FOLLOWS, RIGHT, FRESH = 0.9, 0.01, 500
CHAOTIC, PIECES = 1e-3, 8  # a relative change of the start that chaos does not forgive; pieces then


class Table(NamedTuple):
    """A system with two starts."""

    name: str
    columns: tuple[str, ...]
    formulas: tuple[Formula, ...]
    starts: tuple[np.ndarray, ...]
    t: np.ndarray

    def slopes(self, X):
        """Return the derivatives on rows of states."""
        columns = dict(zip(self.columns, np.asarray(X).T, strict=True))
        n = len(X)
        return np.column_stack([np.broadcast_to(f(columns), n) for f in self.formulas])

    def run(self, start):
        """Return the states along a run."""
        return solve_ivp(
            lambda _, x: self.slopes(x[None])[0],
            (self.t[0], self.t[-1]),
            start,
            t_eval=self.t,
            method="LSODA",
            rtol=1e-10,
            atol=1e-12,
        ).y.T


def table_of(name, equations, starts, t_end, n_points) -> Table:
    texts = [part.strip().replace("cot(", "1/tan(") for part in equations.split("|")]
    columns = tuple(f"x_{j}" for j in range(len(texts)))
    begin = tuple(np.array(list(map(float, start.split()))) for start in starts)
    t = np.linspace(0.0, float(t_end), int(n_points))
    return Table(str(name), columns, tuple(map(Formula, texts)), begin, t)


def read_tables(path: Path) -> list[Table]:
    """Return the systems of a table: id, dim, equations, initial_1, initial_2, t_end, n_points."""
    with path.open() as file:
        return [
            table_of(
                row["id"],
                row["equations"],
                (row["initial_1"], row["initial_2"]),
                row["t_end"],
                row["n_points"],
            )
            for row in csv.DictReader(file)
        ]


# Kept apart: run once, and never looked at while the method was made.
OWN = [
    ("Morse", "x_1 | 3*exp(-2*x_0) - 3*exp(-x_0)", ("0.4 0.3", "1.2 -0.2"), 12),
    ("oregonator-like", "x_0*(1 - x_0) - 0.7*x_1*(x_0 - 0.1)/(x_0 + 0.1) | 0.4*x_0 - 0.4*x_1",
     ("0.6 0.2", "0.2 0.5"), 15),
    ("cubic drag", "-0.3*x_0 - 0.05*x_0**3", ("5", "2"), 10),
    ("Bernoulli", "0.5*x_0 - 0.2*sqrt(x_0)", ("0.5", "2"), 6),
    ("two tanks", "1 - 0.6*sqrt(x_0) | 0.6*sqrt(x_0) - 0.4*sqrt(x_1)", ("0.5 3", "4 1"), 12),
    ("Holling III", "x_0*(1 - 0.2*x_0) - 1.1*x_1*x_0**2/(x_0**2 + 1) | "
     "0.6*x_1*x_0**2/(x_0**2 + 1) - 0.25*x_1", ("1 1", "3 0.5"), 20),
    ("Josephson", "x_1 | 0.6 - sin(x_0) - 0.5*x_1", ("0.2 0", "2 1"), 12),
    ("laser", "x_0*(x_1 - 1) | 0.3*(3 - x_1 - x_0*x_1)", ("0.1 2", "1 0.5"), 15),
    ("Thomas", "sin(x_1) - 0.2*x_0 | sin(x_2) - 0.2*x_1 | sin(x_0) - 0.2*x_2",
     ("1 0 2", "-1 2 0.5"), 20),
    ("SIRS", "0.1*(1 - x_0 - x_1) - 1.2*x_0*x_1 | 1.2*x_0*x_1 - 0.3*x_1", ("0.9 0.05", "0.5 0.3"),
     25),
]  # fmt: skip


class Judged(NamedTuple):
    """One fit."""

    name: str
    direction: int
    noise: float
    follows: bool
    new_start: bool
    right: bool
    terms: bool
    verdict: str
    evidence: float
    seconds: float
    within: list[bool]
    model: EquationsOfMotion


def measured(table: Table, start, noise, half, seed):
    """Return times and rows of a run, with noise relative to each value."""
    random = np.random.default_rng(seed)
    X = table.run(start)
    X = X * (1.0 + noise * random.normal(size=X.shape))
    if not half:
        return table.t, X
    kept = np.sort(random.permutation(len(X))[: len(X) // 2])
    return table.t[kept], X[kept]


def fresh_states(runs, seed=1):
    """Return states around the runs, inside the box that they span."""
    random = np.random.default_rng(seed)
    both = np.vstack(runs)
    low, high = both.min(axis=0), both.max(axis=0)
    states = both[random.integers(len(both), size=FRESH)]
    return np.clip(states + 0.05 * (high - low) * random.normal(size=states.shape), low, high)


def has_right_terms(equation, states, truth) -> bool:
    """Say whether the terms of an equation can be the truth, and none of them is in vain."""
    values = equation.term_values(states)
    if not np.isfinite(values).all():  # some states are out of its reach
        return False
    size = np.linalg.norm(values, axis=0)
    coef = np.linalg.lstsq(values / size, truth, rcond=None)[0]
    left = np.linalg.norm(truth - values / size @ coef) / np.linalg.norm(truth)
    return bool(left < RIGHT and np.abs(coef).min() > 1e-3 * np.abs(coef).max())


def within_two_errors(equation, states, truth) -> list[bool]:
    """Say which coefficients are within two standard errors of the true ones.

    These are known where an equation has the right terms, and no constants inside them.
    """
    if equation.constants or not has_right_terms(equation, states, truth):
        return []
    values = equation.term_values(states)
    size = np.linalg.norm(values, axis=0)
    coef = np.linalg.lstsq(values / size, truth, rcond=None)[0] / size
    if np.linalg.norm(truth - values @ coef) > 1e-8 * np.linalg.norm(truth):
        return []  # nearly the right terms
    known = np.isfinite(equation.coef_std)
    return (np.abs(equation.coef - coef) <= 2.0 * equation.coef_std)[known].tolist()


def agrees(run, path) -> bool:
    """Say whether a path follows a run."""
    if not np.isfinite(path).all():
        return False
    return bool(r2_score(run, path, multioutput="variance_weighted") > FOLLOWS)


def follows(model, table: Table, run) -> bool:
    """Say whether equations follow a run; in pieces, where not even the true ones do."""
    moved = table.run(run[0] * (1.0 + CHAOTIC))
    n = 1 if moved.shape == run.shape and agrees(run, moved) else PIECES
    edges = np.linspace(0, len(run), n + 1).astype(int)
    parts = [slice(*edge) for edge in pairwise(edges)]
    return agrees(run, np.vstack([model.simulate(run[p][0], table.t[p]) for p in parts]))


def judge(table: Table, direction: int, noise: float, half: bool, seed: int, fitted) -> Judged:
    """Fit one run of a system; judge what was found along both."""
    t, X = measured(
        table,
        table.starts[direction],
        noise,
        half,
        [seed, direction, zlib.crc32(table.name.encode())],
    )
    begun = time.perf_counter()
    model = fitted(X, t)
    seconds = time.perf_counter() - begun
    runs = [table.run(table.starts[k]) for k in (direction, 1 - direction)]
    flags = [False] * 4
    evidence, within = np.nan, []
    if model.equations_:
        evidence = float(np.min(model.evidence_))
        for i, run in enumerate(runs):
            flags[i] = follows(model, table, run)
        states = fresh_states(runs)
        truth, found = table.slopes(states), model.predict(states)
        error = np.sqrt(np.mean((truth - found) ** 2, axis=0) / np.mean(truth**2, axis=0))
        flags[2] = bool((error < RIGHT).all())
        if isinstance(model, EquationsOfMotion):
            pairs = list(zip(model.equations_, truth.T, strict=True))
            flags[3] = all(has_right_terms(equation, states, true) for equation, true in pairs)
            within = [
                w for equation, true in pairs for w in within_two_errors(equation, states, true)
            ]
    return Judged(
        table.name, direction, noise, *flags, model.verdict_, evidence, seconds, within, model
    )


def report(fits: list[Judged], title: str) -> None:
    """Print the figures of some fits."""
    share = [round(100 * np.mean([getattr(f, k) for f in fits]))
             for k in ("follows", "new_start", "right")]  # fmt: skip
    seconds = [f.seconds for f in fits]
    sure = [f.terms for f in fits if f.evidence >= 5]
    unsure = [f.terms for f in fits if f.evidence < 5]
    within = [w for f in fits for w in f.within]
    print(
        f"| {title} | {len(fits)} | {share[0]} / {share[1]} / {share[2]} | {_share(sure)} | "
        f"{_share(unsure)} | {_share(within)} | "
        f"{np.median(seconds):.1f} ({np.quantile(seconds, 0.95):.1f}) |",
        flush=True,
    )


def _share(hits: list[bool]) -> str:
    return f"{np.mean(hits):.2f} of {len(hits)}" if hits else "-"


HEAD = (
    "| runs | fits | follows / new start / right, % | right terms at evidence 5 and more | "
    "below 5 | coefficients within two standard errors | seconds, median (95 %) |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)


# -- Paths that obey nothing ----------------------------------------------------------------------


def path_without_equations(kind: str, seed: int, noise: float):
    """Return times and rows of a path that its columns do not determine."""
    random = np.random.default_rng(seed)
    t = np.linspace(0.0, 10.0, 400)
    d = 1 + seed % 3
    step = t[1] - t[0]
    if kind == "Brownian":
        X = np.cumsum(np.sqrt(step) * random.normal(size=(len(t), d)), axis=0)
    elif kind == "white noise":
        X = random.normal(size=(len(t), d))
    elif kind == "Ornstein-Uhlenbeck":
        X = np.zeros((len(t), d))
        for i in range(1, len(t)):
            X[i] = X[i - 1] * (1 - step) + np.sqrt(step) * random.normal(size=d)
    elif kind == "smooth random":
        knots = np.linspace(0.0, 10.0, 14 + seed % 5)
        X = CubicSpline(knots, random.normal(size=(len(knots), d)))(t)
    elif kind == "hidden variable":
        a, b = random.uniform(0.8, 2.0, size=2)

        def hidden(_, x):
            return [a * (x[1] - x[0]), x[0] * (b * 8 - x[2]) - x[1], x[0] * x[1] - x[2]]

        X = solve_ivp(hidden, (0, 10), random.normal(size=3) * 3, t_eval=t).y.T[:, :1]
    elif kind == "forced":
        w, k = random.uniform(1.5, 4.0, size=2)

        def forced(s, x):
            return [x[1], -k * x[0] - 0.2 * x[1] + 2 * np.sin(w * s + s**1.5 / 4)]

        X = solve_ivp(forced, (0, 10), random.normal(size=2), t_eval=t, rtol=1e-8).y.T
    elif kind == "delay":
        lag = int(random.uniform(0.8, 1.6) / step)
        x = np.full(len(t) + lag, random.uniform(0.3, 1.5))
        for i in range(lag, len(x) - 1):
            past = x[i - lag]
            x[i + 1] = x[i] + step * (4 * past / (1 + past**8) - 1.3 * x[i])
        X = x[lag:, None]
    else:  # switching
        times = np.sort(random.uniform(0, 10, size=5))
        rates = random.uniform(-2, 2, size=(6, 2))

        def switching(s, x):
            a, b = rates[np.searchsorted(times, s)]
            return [a - 0.5 * x[0] + x[1], b - x[0]]

        X = solve_ivp(switching, (0, 10), random.normal(size=2), t_eval=t, max_step=0.05).y.T
    return t, X + noise * X.std(axis=0) * random.normal(size=X.shape)


KINDS = (
    *("Brownian", "white noise", "Ornstein-Uhlenbeck", "smooth random"),
    *("hidden variable", "forced", "delay", "switching"),
)


def paths(count: int, first: int) -> None:
    """Print how often equations are claimed for paths that obey none."""
    print("| path | claims | fits |\n| --- | --- | --- |")
    for kind in KINDS:
        claims, fits = [], 0
        for i in range(max(1, count // len(KINDS))):
            t, X = path_without_equations(kind, first + i, (0.0, 0.02)[i % 2])
            model = EquationsOfMotion().fit(X, t)
            fits += 1
            if model.equations_:
                claims.append(f"{first + i}: {model.verdict_[:7]} {model.equations_[0]}")
        print(f"| {kind} | {len(claims)} {'; '.join(claims)} | {fits} |", flush=True)


# -- Accelerations from positions -----------------------------------------------------------------

OSCILLATORS = [
    ("spring", "-4*x", 1),
    ("damped", "-4*x - 0.3*v", 2),
    ("pendulum", "-6*sin(x)", 1),
    ("damped pendulum", "-6*sin(x) - 0.2*v", 2),
    ("Duffing", "x - x**3 - 0.1*v", 3),
    ("hard spring", "-2*x - 1.5*x**3", 2),
    ("van der Pol", "-x + 1.1*v - 1.1*x**2*v", 3),
    ("constant force", "1.5 - 3*x - 0.2*v", 3),
    ("quadratic drag", "-3*x - 0.25*v*abs(v)", 2),
    ("soft spring", "-2*x + 0.4*x**2", 2),
]


def oscillators(noises) -> None:
    """Print what order 2 finds from positions alone."""
    print("| oscillator | noise | right terms | found |\n| --- | --- | --- | --- |")
    t = np.linspace(0.0, 10.0, 300)
    for name, text, n_terms in OSCILLATORS:
        formula = Formula(text)

        def slopes(_, y, formula=formula):
            values = {"x": y[:1], "v": y[1:]}
            return [y[1], float(np.ravel(formula({k: values[k] for k in formula.names}))[0])]

        clean = solve_ivp(slopes, (0, 10), [1.2, 0.4], t_eval=t, rtol=1e-9, atol=1e-11).y[0]
        for noise in noises:
            x = clean + noise * clean.std() * np.random.default_rng(1).normal(size=len(t))
            model = EquationsOfMotion(order=2).fit(x[:, None], t)
            found = model.equations_[0] if model.equations_ else None
            right = found is not None and found.n_terms == n_terms
            if right:
                X = np.random.default_rng(2).uniform(-1, 1, size=(200, 2))
                values = {"x": X[:, 0], "v": X[:, 1]}
                truth = formula({k: values[k] for k in formula.names})
                error = np.std(model.predict(X)[:, 0] - truth) / np.std(truth)
                right = error < 0.1
            print(f"| {name} | {noise} | {right} | {found or model.verdict_} |", flush=True)


# -- PySINDy --------------------------------------------------------------------------------------


SECONDS = 10  # of an integration, after which a motion counts as one that cannot be integrated


def _too_long(*_):
    raise TimeoutError


class Sindy:
    """PySINDy with polynomials of degree 3, the threshold of the best training R2."""

    def __init__(self):
        import pysindy

        self.library = pysindy
        self.equations_, self.verdict_, self.evidence_ = [], "follows", [np.nan]

    def __call__(self, X, t):
        """Fit, and return the model."""
        best = -np.inf
        for threshold in (0.01, 0.03, 0.1, 0.3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = self.library.SINDy(
                    optimizer=self.library.STLSQ(threshold=threshold),
                    feature_library=self.library.PolynomialLibrary(degree=3),
                )
                try:
                    model.fit(X, t=t)
                    score = model.score(X, t=t)
                except Exception:  # it may raise anything, and has three other thresholds
                    continue
            if score > best:
                best, self.model = score, model
        self.equations_ = [self.model]
        return self

    def simulate(self, start, t):
        """Integrate from a start; what takes longer than some seconds follows nothing."""
        before = signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(SECONDS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.model.simulate(start, t)
        except Exception:  # a motion that cannot be integrated follows nothing
            return np.full((len(t), len(start)), np.nan)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    def predict(self, X):
        """Return the derivatives."""
        return np.asarray(self.model.predict(X))


def ours(X, t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return EquationsOfMotion().fit(X, t)


def equations(arguments) -> None:
    """Run what the command line asks for."""
    if arguments.paths:
        paths(arguments.paths, arguments.first)
    if arguments.oscillators:
        oscillators((0.0, 0.03))
    tables = []
    if arguments.table is not None:
        tables = [s for s in read_tables(arguments.table) if s.name in (arguments.only or s.name)]
    if arguments.own:
        tables += [table_of(name, text, starts, end, 512) for name, text, starts, end in OWN]
    if not tables:
        return
    print(HEAD)
    for noise in arguments.noise:
        for label, method in (("ours", ours), ("PySINDy", None)):
            if method is None and not arguments.pysindy:
                continue
            fits = []
            for table in tables:
                for direction in arguments.directions:
                    fit = method or Sindy()
                    fits.append(
                        judge(table, direction, noise, arguments.half, arguments.first, fit)
                    )
                    if arguments.verbose:
                        last = fits[-1]
                        print(
                            last.name, direction, noise, int(last.follows), int(last.new_start),
                            int(last.right), f"{last.seconds:.1f}", f"{last.evidence:.1f}",
                            last.verdict[:60], [str(e) for e in last.model.equations_], flush=True,
                        )  # fmt: skip
            half = ", half the rows" if arguments.half else ""
            report(fits, f"{label}, noise {noise:g}{half}")
