"""Loops: invariants found in traces of twenty programs, and whether longer traces refute them.

Which loops have all of their equations found (each is a combination of the invariants), the
seconds that takes, and how many invariants some row of longer traces with larger inputs refutes.

    python benchmarks/studies/loops.py [--held-apart] [--longer 10000]
"""

import argparse
import time

import numpy as np
from loop_traces import BUILT_WITH, HELD_APART, Loop
from sympy import expand, groebner, symbols, sympify

from vanishing import loop_invariants


def is_implied(equation: str, invariants, variables: str) -> bool:
    """Say whether an equation follows from invariants."""
    names = symbols(variables)
    local = dict(zip(variables.split(), names, strict=True))
    ideal = [sympify(str(f).replace("^", "**"), locals=local) for f in invariants]
    if not ideal:
        return False
    basis = groebner(ideal, *names, order="grevlex")
    return basis.contains(expand(sympify(equation.replace("^", "**"), locals=local)))


def table_of(loop: Loop, random, n_runs: int, size: int, longest: int):
    """Return the rows of traces, with names."""
    import pandas as pd

    rows = loop.trace(random, n_runs, size, longest)
    return pd.DataFrame(np.array(rows, dtype=object), columns=loop.variables.split())


def refuted(invariants, loop: Loop, n_traces: int) -> int:
    """Return how many invariants a row of longer traces refutes."""
    random = np.random.default_rng(99)
    wrong = set()
    for _ in range(n_traces):
        rows = loop.trace(random, 1, 2000, 40)
        picked = np.array([rows[i] for i in {len(rows) // 2, len(rows) - 1}], dtype=object)
        wrong |= {i for i, f in enumerate(invariants) if _values(f, picked).any()}
    return len(wrong)


def _values(f, rows: np.ndarray) -> np.ndarray:
    """Return the values of a polynomial with whole coefficients, exactly."""
    total = 0
    for term, coef in zip(f.terms.tolist(), f.coef, strict=True):
        value = np.full(len(rows), int(coef), dtype=object)
        for j, exponent in enumerate(term):
            value = value * rows[:, j] ** exponent
        total = total + value
    return total


def judged(loop: Loop, n_runs: int, size: int, n_longer: int) -> tuple:
    """Return equations found, all of them, invariants, refuted ones, seconds and the invariants."""
    table = table_of(loop, np.random.default_rng(0), n_runs, size, 60)
    start = time.perf_counter()
    invariants = loop_invariants(table)
    seconds = time.perf_counter() - start
    found = sum(is_implied(e, invariants, loop.variables) for e in loop.invariants)
    wrong = refuted(invariants, loop, n_longer)
    return found, len(loop.invariants), len(invariants), wrong, seconds, invariants


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--held-apart", action="store_true", help="the ten held apart, too")
    parser.add_argument("--longer", type=int, default=1000, help="longer traces per loop")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--size", type=int, default=60, help="of inputs")
    parser.add_argument("--show", action="store_true", help="print the invariants")
    options = parser.parse_args()
    loops = (*BUILT_WITH, *(HELD_APART if options.held_apart else ()))
    complete = refuted_in_all = 0
    for loop in loops:
        found, of, n, wrong, seconds, invariants = judged(
            loop, options.runs, options.size, options.longer
        )
        complete += found == of
        refuted_in_all += wrong
        print(
            f"{loop.name:26} {found} of {of} equations, {n} invariants, {wrong} refuted, "
            f"{seconds:.2f} s"
        )
        if options.show:
            for invariant in invariants:
                print(f"    {invariant} = 0")
    print(f"{complete} of {len(loops)} loops complete, {refuted_in_all} invariants refuted")


if __name__ == "__main__":
    main()
