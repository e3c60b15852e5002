"""Repair: gaps filled and wrong values replaced, beside other ways to fill gaps.

``gaps``: the error of filled cells relative to the spread of their columns, where 10 % of all cells
are hidden, or one cell of each row, and how many hidden values are within two standard errors.
``wrong``: 5 % of all cells are corrupted (ten times as large, of the other sign, or off by half to
three spreads). ``reconcile``: what is left of known noise.

    python benchmarks/studies/repair.py [gaps] [wrong] [reconcile] [--seeds 5] [--tables pump ...]
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.preprocessing import StandardScaler

from vanishing import VanishingRepair, datasets

ROWS = 1000
SURE_STD = 3.0  # standard errors within which a value counts as restored


def pump(seed, noise=0.005):
    """Flow, speed, power and losses of a pump: laws are found."""
    rng = np.random.default_rng(seed)
    q, w = rng.uniform(1, 3, (2, ROWS))
    true = np.column_stack([q, w, q * w, q * q])
    return noisy(true, noise, rng, ["flow", "speed", "power", "loss"]), {}


def plant(seed, noise=0.01):
    """Twelve streams of a plant and five balances, which are found."""
    rng = np.random.default_rng(seed)
    f, share = np.zeros((ROWS, 12)), rng.uniform(0.3, 0.7, (4, ROWS))
    f[:, 0], f[:, 1] = rng.uniform(80, 120, ROWS), rng.uniform(20, 60, ROWS)
    f[:, 2] = f[:, 0] * share[0]
    f[:, 3] = f[:, 0] - f[:, 2]
    f[:, 4] = rng.uniform(10, 30, ROWS)
    f[:, 5] = f[:, 1] + f[:, 2] - f[:, 4]
    f[:, 6] = f[:, 3] * share[1]
    f[:, 7] = f[:, 3] - f[:, 6]
    f[:, 8] = (f[:, 5] + f[:, 6]) * share[2]
    f[:, 9] = f[:, 5] + f[:, 6] - f[:, 8]
    f[:, 10] = (f[:, 4] + f[:, 8]) * share[3]
    f[:, 11] = f[:, 4] + f[:, 8] - f[:, 10]
    return noisy(f, noise, rng, [f"s{i}" for i in range(1, 13)]), {}


def electric(seed, noise=0.005):
    """Voltage, current, resistance, power and phase; the user knows the laws."""
    rng = np.random.default_rng(seed)
    current, resistance, phase = rng.uniform([[1], [5], [0.2]], [[10], [50], [1.2]], (3, ROWS))
    voltage = current * resistance
    power = voltage * current * np.cos(phase)
    true = np.column_stack([voltage, current, resistance, power, phase])
    names = ["U", "I", "R", "P", "phase"]
    return noisy(true, noise, rng, names), {"laws": ["U = I*R", "P = U*I*cos(phase)"]}


def invoices(seed):
    """Invoices, rounded to cents: laws are found."""
    rng = np.random.default_rng(seed)
    quantity = rng.integers(1, 40, ROWS)
    price = np.round(np.exp(rng.normal(2.5, 0.8, ROWS)), 2)
    net, rate = np.round(quantity * price, 2), rng.choice([0.07, 0.19], ROWS)
    vat = np.round(net * rate, 2)
    columns = {"quantity": quantity, "price": price, "net": net, "rate": rate, "vat": vat}
    return pd.DataFrame({**columns, "gross": np.round(net + vat, 2)}).astype(float), {}


def seeds(seed):
    """Kernels of wheat: compactness follows from area and perimeter, and other laws are rough."""
    X, _ = datasets.load("seeds", return_X_y=True)
    return pd.DataFrame(np.asarray(X), columns=list("APCLWSG")), {"max_degree": 3}


def no_laws(seed):
    """Six columns that are related, without a law."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 2)) @ rng.normal(size=(2, 6)) + 0.7 * rng.normal(size=(ROWS, 6))
    return pd.DataFrame(x, columns=list("abcdef")), {}


TABLES = {f.__name__: f for f in (pump, plant, electric, invoices, seeds, no_laws)}


def noisy(true, noise, rng, names):
    return pd.DataFrame(true * (1 + noise * rng.normal(size=true.shape)), columns=names)


def scaled(imputer):
    """Return what an imputer fills in, on columns of spread 1."""

    def filled(X):
        scaler = StandardScaler().fit(X)
        return scaler.inverse_transform(imputer.fit_transform(scaler.transform(X)))

    return filled


def others():
    trees = ExtraTreesRegressor(30, random_state=0)
    return {
        "Bayesian ridge": scaled(IterativeImputer(random_state=0)),
        "trees": scaled(IterativeImputer(trees, max_iter=5, random_state=0)),
        "neighbours": scaled(KNNImputer()),
    }


def hidden(X, way, rng):
    """Return which cells are hidden; no column and no row is hidden as a whole."""
    gaps = rng.random(X.shape) < 0.1
    if way == "one per row":
        gaps = np.arange(X.shape[1]) == rng.integers(0, X.shape[1], (len(X), 1))
    gaps[gaps.all(axis=1)] = False
    return gaps


def run_gaps(tables, n_seeds):
    heads = ["table", "gaps", "laws", *others(), "within 2 errors", "s"]
    print("error of filled cells relative to the spread, mean over seeds\n")
    print("|", " | ".join(heads), "|\n" + "| --- " * len(heads) + "|")
    for name in tables:
        for way in ("10 %", "one per row"):
            errors = {key: [] for key in ("laws", *others())}
            covered, seconds = [], []
            for seed in range(n_seeds):
                X, options = TABLES[name](seed)
                gaps = hidden(X, way, np.random.default_rng(100 + seed))
                with_gaps, spread = X.mask(gaps), X.std().to_numpy()
                start = time.perf_counter()
                repair = VanishingRepair(**options).fit(with_gaps)
                cells = repair.report(with_gaps)
                seconds.append(time.perf_counter() - start)
                answers = {"laws": repair.transform(with_gaps)}
                answers |= {key: fill(with_gaps) for key, fill in others().items()}
                for key, values in answers.items():
                    off = ((values - X.to_numpy()) / spread)[gaps]
                    errors[key].append(np.sqrt(np.mean(off**2)))
                off = [
                    abs(c.now - X.loc[c.row, c.column]) / c.std for c in cells if c.kind == "gap"
                ]
                covered.append(np.mean(np.array(off) <= 2))
            means = [f"{np.mean(values):.4f}" for values in errors.values()]
            cells = [
                name,
                way,
                *means,
                f"{100 * np.mean(covered):.1f} %",
                f"{np.mean(seconds):.1f}",
            ]
            print("|", " | ".join(cells), "|", flush=True)


def corrupted(X, rng):
    """Return a table with wrong cells, and which these are."""
    bad = rng.random(X.shape) < 0.05
    spread = X.std().to_numpy()
    kind = rng.integers(0, 3, X.shape)
    shift = rng.choice([-1, 1], X.shape) * rng.uniform(0.5, 3, X.shape) * spread
    wrong = np.select([kind == 0, kind == 1], [10 * X, -X], X + shift)
    return X.mask(bad, wrong), bad & (wrong != X.to_numpy())


def run_wrong(tables, n_seeds):
    heads = ["table", "laws found", "restored", "in doubt", "left", "good cells spoiled", "s"]
    print(f"\n5 % of the cells are wrong; restored: within {SURE_STD:g} standard errors\n")
    print("|", " | ".join(heads), "|\n" + "| --- " * len(heads) + "|")
    for name in tables:
        shares = []
        for seed in range(n_seeds):
            X, options = TABLES[name](seed)
            table, bad = corrupted(X, np.random.default_rng(200 + seed))
            start = time.perf_counter()
            repair = VanishingRepair(**options).fit(table)
            cells = repair.report(table)
            seconds = time.perf_counter() - start
            place = {column: j for j, column in enumerate(X.columns)}
            n_right = n_doubt = n_spoiled = 0
            for c in cells:
                is_bad, is_wrong = bad[c.row, place[c.column]], c.kind == "wrong"
                right = abs(c.now - X.loc[c.row, c.column]) <= SURE_STD * c.std
                n_right += is_bad and is_wrong and right
                n_doubt += is_bad and c.kind == "ambiguous"
                n_spoiled += is_wrong and not is_bad
            total = bad.sum()
            left = total - n_right - n_doubt
            spoiled = n_spoiled / (bad.size - total)
            shares.append(
                [
                    len(repair.laws_),
                    n_right / total,
                    n_doubt / total,
                    left / total,
                    spoiled,
                    seconds,
                ]
            )
        laws, *parts, spoiled, seconds = np.mean(shares, axis=0)
        cells = [name, f"{laws:.1f}", *(f"{100 * part:.1f} %" for part in parts)]
        print(
            "|", " | ".join([*cells, f"{100 * spoiled:.3f} %", f"{seconds:.1f}"]), "|", flush=True
        )


def run_reconcile(n_seeds):
    ratios, covered = [], []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        q, w = rng.uniform(1, 3, (2, ROWS))
        true = np.column_stack([q, w, q * w, q * q])
        noise = 0.01 * true.mean(axis=0)
        X = pd.DataFrame(true + noise * rng.normal(size=true.shape), columns=list("qwpl"))
        repair = VanishingRepair(noise=noise, reconcile=True).fit(X)
        off = repair.transform(X) - true
        ratios.append(np.sqrt(np.mean((off / noise) ** 2)))
        std = np.sqrt(np.einsum("mii->mi", repair.covariance(X)))
        covered.append(np.mean(np.abs(off) <= 2 * std))
    print(
        f"\nreconciled pump: error {np.mean(ratios):.3f} of the noise, "
        f"{100 * np.mean(covered):.1f} % within 2 errors"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["gaps", "wrong", "reconcile"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if "gaps" in arguments.what:
        run_gaps(arguments.tables, arguments.seeds)
    if "wrong" in arguments.what:
        run_wrong([name for name in arguments.tables if name != "no_laws"], arguments.seeds)
    if "reconcile" in arguments.what:
        run_reconcile(arguments.seeds)


if __name__ == "__main__":
    main()
