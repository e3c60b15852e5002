"""How much of a small fit is not the validation of its rows, and what it was at another commit.

Fits the rows of each class, all classes together, at psi = 0.005, and transforms ten rows, beside
`check_array` of the same rows. Another state of the source takes its times in turns with this one,
so that noise hits both alike: processor time, best of several in a row and of several rounds.

    python benchmarks/small.py [--data-home DIR] [--before SRC] [--repeat 50] [bank seeds ...]

SRC is the folder `src` of the other state: git worktree add /tmp/before COMMIT gives one.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings

NAMES = ("bank", "seeds", "htru")
PSI = 0.005
IN_A_ROW = 5


def processor_seconds(run):
    """Return the processor time of one call."""
    start = time.process_time_ns()
    run()
    return 1e-9 * (time.process_time_ns() - start)


def work(name, data_home):
    """Time one round of everything for every line read, and write the seconds as a line."""
    import numpy as np
    from sklearn.preprocessing import minmax_scale
    from sklearn.utils import check_array

    from vanishing import ABM, OAVI, datasets

    warnings.simplefilter("ignore")
    X, y = datasets.load(name, data_home=data_home, return_X_y=True)
    X = minmax_scale(X)
    parts = [np.ascontiguousarray(X[y == label]) for label in np.unique(y)]
    ls, abm = ([kind.fit(part) for part in parts] for kind in (OAVI(PSI, oracle="ls"), ABM(PSI)))
    ten = parts[0][:10].copy()

    def fit(models):
        return lambda: [model.fit(part) for model, part in zip(models, parts, strict=True)]

    rounds = {
        "rows": lambda: [check_array(part) for part in parts],
        "ls": fit(ls),
        "abm": fit(abm),
        "ten rows": lambda: check_array(ten),
        "transform": lambda: ls[0].transform(ten),
    }
    for _ in sys.stdin:
        seconds = {}
        for what, run in rounds.items():
            run()  # what another process left in the caches is not ours
            seconds[what] = min(processor_seconds(run) for _ in range(IN_A_ROW))
        print(json.dumps(seconds), flush=True)


class Worker:
    """A process that times one state of the source, one round at a time."""

    def __init__(self, name, options, source):
        command = [sys.executable, __file__, "--work", name]
        command += [] if options.data_home is None else ["--data-home", options.data_home]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        if source is not None:
            environment["PYTHONPATH"] = source
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.best = {}

    def round(self):
        """Take the times once more."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        for what, seconds in json.loads(self.process.stdout.readline()).items():
            self.best[what] = min(seconds, self.best.get(what, seconds))

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def main():
    """Print one line per data set and state of the source, in microseconds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--before", default=None, metavar="SRC")
    parser.add_argument("--repeat", type=int, default=50)
    parser.add_argument("--work", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        work(options.work, options.data_home)
        return
    print(
        f"{'data':<7}{'':<8}{'rows us':>9}{'ls us':>9}{'abm us':>9}{'ten rows us':>13}"
        f"{'transform us':>14}{'above':>7}"
    )
    for name in options.names:
        workers = {"now": Worker(name, options, None)}
        if options.before is not None:
            workers["before"] = Worker(name, options, options.before)
        for _ in range(options.repeat):
            for worker in workers.values():
                worker.round()
        for state, worker in workers.items():
            worker.close()
            best = {what: 1e6 * seconds for what, seconds in worker.best.items()}
            print(
                f"{name:<7}{state:<8}{best['rows']:>9.0f}{best['ls']:>9.0f}{best['abm']:>9.0f}"
                f"{best['ten rows']:>13.0f}{best['transform']:>14.0f}"
                f"{best['transform'] - best['ten rows']:>7.0f}"
            )
        if len(workers) == 2:
            now, before = (workers[state].best for state in ("now", "before"))
            ls, abm = (before[what] / now[what] for what in ("ls", "abm"))
            print(f"{name:<7}{'ratio':<8}{'':>9}{ls:>9.2f}{abm:>9.2f}", flush=True)


if __name__ == "__main__":
    main()
