"""Rules: six planted ones among forty columns, found, true of fresh rows, and kept by SQLite.

Per table: how many of the six rules are found in words and as CHECKs, rules that more than one in
a thousand fresh rows breaks, the share of fresh rows that the CHECKs accept, and the share of rows
refused that have one cell off by a tenth of its standard deviation where a law covers it.

    python benchmarks/studies/rules.py [--seeds 5] [--rows 2000]
"""

import argparse
import sqlite3
import time

import numpy as np
import pandas as pd

from vanishing import VanishingOutlierDetector, rules_of

PLANTED = {
    "net = pieces*price": ("law", {"net", "pieces", "price"}),
    "gross = net + tax": ("law", {"gross", "net", "tax"}),
    "pieces is whole": ("integer", {"pieces"}),
    "stock is not negative": ("sign", {"stock"}),
    "ordered before paid": ("order", {"ordered", "paid"}),
    "state is a code": ("codes", {"state"}),
}
COVERED = ("net", "pieces", "price", "gross", "tax")


def table_of(n_rows: int, seed: int) -> pd.DataFrame:
    """Return a table of forty columns that keeps six rules."""
    random = np.random.default_rng(seed)
    pieces = random.integers(1, 80, n_rows).astype(float)
    price = random.uniform(5, 90, n_rows).round(2)
    net = (pieces * price).round(2)
    tax = (net * random.uniform(0.05, 0.3, n_rows)).round(2)
    ordered = random.uniform(0, 1000, n_rows)
    columns = {
        "pieces": pieces,
        "price": price,
        "net": net,
        "tax": tax,
        "gross": net + tax,
        "stock": random.exponential(50, n_rows),
        "ordered": ordered,
        "paid": ordered + random.exponential(40, n_rows),
        "state": random.choice([1.0, 2.0, 5.0], n_rows, p=[0.6, 0.3, 0.1]),
    }
    draws = (
        lambda: random.normal(20, 3, n_rows),
        lambda: random.uniform(-1, 1, n_rows),
        lambda: random.lognormal(0, 1, n_rows),
        lambda: 101_325 + 30 * random.normal(size=n_rows),
        lambda: random.standard_t(4, n_rows),
    )
    for i in range(40 - len(columns)):
        columns[f"s{i}"] = draws[i % len(draws)]()
    return pd.DataFrame(columns)


def taken(statement: str, rows: pd.DataFrame) -> np.ndarray:
    """Say which rows SQLite takes into the table of a statement."""
    connection = sqlite3.connect(":memory:")
    connection.execute(statement)
    insert = f"INSERT INTO data VALUES ({','.join('?' * rows.shape[1])})"
    accepted = []
    for row in rows.to_numpy().tolist():
        try:
            connection.execute(insert, row)
            accepted.append(True)
        except sqlite3.IntegrityError:
            accepted.append(False)
    return np.array(accepted)


def judged(seed: int, n_rows: int, n_fresh: int) -> dict:
    """Return the figures of one table."""
    table = table_of(n_rows, seed)
    start = time.perf_counter()
    rules = rules_of(VanishingOutlierDetector().fit(table), table)
    seconds = time.perf_counter() - start
    known = {(rule.kind, frozenset(rule.columns)) for rule in rules}
    statement = rules.to_sql("data")
    found = [
        name for name, (kind, columns) in PLANTED.items() if (kind, frozenset(columns)) in known
    ]
    fresh = table_of(n_fresh, 1000 + seed)
    holds = rules.holds(fresh)
    false = [
        str(rule) for rule, kept in zip(rules, holds.mean(axis=0), strict=True) if kept < 0.999
    ]
    accepted = taken(statement, fresh)
    assert (accepted == holds.all(axis=1)).all()
    random = np.random.default_rng(seed)
    refused = {}
    for name in COVERED:
        off = fresh[:1000].copy()
        off[name] += 0.1 * fresh[name].std() * random.choice([-1.0, 1.0], len(off))
        refused[name] = 1.0 - taken(statement, off).mean()
    return {
        "found": found,
        "laws": [str(rule) for rule in rules if rule.kind == "law"],
        "n_rules": len(rules),
        "n_characters": len(statement),
        "false": false,
        "accepted": accepted.mean(),
        "refused": refused,
        "seconds": seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--fresh", type=int, default=10_000)
    options = parser.parse_args()
    accepted = []
    for seed in range(options.seeds):
        figures = judged(seed, options.rows, options.fresh)
        accepted.append(figures["accepted"])
        missed = [name for name in PLANTED if name not in figures["found"]]
        print(
            f"seed {seed}: {len(figures['found'])} of 6 found, {figures['n_rules']} rules, "
            f"{len(figures['false'])} false, {100 * figures['accepted']:.3f} % of fresh rows "
            f"accepted, least refused {100 * min(figures['refused'].values()):.2f} %, "
            f"{figures['n_characters']} characters, {figures['seconds']:.1f} s"
        )
        for text in (*(f"missed: {name}" for name in missed), *figures["false"]):
            print(f"    {text}")
        for law in figures["laws"]:
            print(f"    {law}")
    print(f"accepted on average: {100 * np.mean(accepted):.3f} %")


if __name__ == "__main__":
    main()
