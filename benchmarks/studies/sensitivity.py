"""Settings: what halving and doubling each number of a room's settings changes in the laws found.

    python benchmarks/studies/sensitivity.py [--names EVIDENCE ...] [--noise 0 .01 .1] [--every 4]

Every fourth Feynman formula on 2,000 rows, and the smooth functions without a law, of which each
claim is a false one. A line per number that changes anything; the others are listed at the end.
"""

import argparse
from collections import Counter

from joblib import Parallel, delayed
from law_conditions import Condition
from law_fits import of_formula, of_smooth
from law_tables import SMOOTH, seed_of

from vanishing.datasets.feynman import feynman_laws
from vanishing.laws import settings

FACTORS = (0.5, 2.0)


def varied(name, factor, group, function, arguments):
    """Return the outcome of one table with one setting changed."""
    before = getattr(settings, name) if name else None
    if name:
        value = before * factor
        setattr(settings, name, max(1, round(value)) if isinstance(before, int) else value)
    try:
        record = function(*arguments)
    except Exception as problem:  # a setting that breaks the search is an answer, too
        return group, f"error ({type(problem).__name__})"
    finally:
        if name:
            setattr(settings, name, before)
    return group, record.outcome


def tables(options):
    """Yield a group, a function and its arguments for each formula and each smooth function."""
    laws = feynman_laws()
    for noise in options.noise:
        for index, name in list(enumerate(laws))[:: options.every]:
            seed, group = seed_of(options.seed, index, noise), f"noise {noise:g}"
            arguments = (group, name, laws[name], options.rows, noise, seed, Condition())
            yield group, of_formula, arguments
    for index in range(len(SMOOTH)):
        yield "no law", of_smooth, (index, options.rows, 0.01, options.seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="*")
    parser.add_argument("--noise", nargs="*", type=float, default=[0.0, 0.01, 0.1])
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    known = [n for n, v in vars(settings).items() if n.isupper() and isinstance(v, int | float)]
    numbers = options.names or known
    if unknown := set(numbers) - set(known):
        parser.error(f"no numbers of the law search: {', '.join(sorted(unknown))}")
    tasks, unchanged = list(tables(options)), []
    with Parallel(n_jobs=options.jobs) as parallel:

        def counted(name, factor):
            counts = {}
            for group, outcome in parallel(delayed(varied)(name, factor, *task) for task in tasks):
                counts.setdefault(group, Counter())[outcome] += 1
            return counts

        usual = counted(None, 1.0)
        print("as it is:", shown(usual), flush=True)
        for name in numbers:
            changes = {factor: counted(name, factor) for factor in FACTORS}
            for factor, counts in changes.items():
                if counts != usual:
                    value = getattr(settings, name)
                    print(f"{name} = {value} x {factor:g}:", shown(counts), flush=True)
            if all(counts == usual for counts in changes.values()):
                unchanged.append(name)
    print("nothing changes with:", ", ".join(unchanged))


def shown(groups):
    return "; ".join(
        f"{group}: " + ", ".join(f"{n} {outcome}" for outcome, n in sorted(counter.items()))
        for group, counter in groups.items()
    )


if __name__ == "__main__":
    main()
