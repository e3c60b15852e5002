"""The page as a new user meets it: seconds and clicks to the first answer, and memory.

``examples``: from `vanishing app` to the page, and from the click on "Find the answer" to the
answer of each example. ``first``: the same with nothing compiled before, of the examples that are
named. ``large``: a table of 1,000,000 rows and 20 columns is read and asked, and the memory of the
page's process and of the one that computes is looked at. Processor seconds are those of both.

    python benchmarks/studies/page.py [examples] [first] [large] [--names gas wines]
"""

import argparse
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from chromium import Browser
from serving import Server

NAMES = ("gas", "pump", "wines", "pendulum", "plant")
ANSWERED = "#answer:not([hidden]), #problem:not([hidden])"
READ = "#question:not([hidden]), #problem:not([hidden])"


def processes(server):
    """Return the numbers of the page's process, and of the one that computes."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [server.process.pid]
    for own in found:  # which grows
        found += [pid for pid, parent in parents.items() if parent == own]
    return found


def cpu(server):
    """Return the processor seconds that both have taken."""
    fields = [
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        for pid in processes(server)
    ]
    # Their own, and those of processes that have ended meanwhile.
    return sum(int(t) for f in fields for t in f[11:15]) / os.sysconf("SC_CLK_TCK")


def memory(server):
    """Return the most memory, in MB, that each of them had."""
    texts = [Path(f"/proc/{pid}/status").read_text() for pid in processes(server)]
    return [int(text.partition("VmHWM:")[2].split()[0]) // 1000 for text in texts]


def timed(server, page, click, until):
    """Click, wait, and return seconds by the clock and of processors."""
    begun, spent = time.perf_counter(), cpu(server)
    click()
    page.wait_for_selector(until, timeout=600_000)
    return f"{time.perf_counter() - begun:6.1f} s, {cpu(server) - spent:5.1f} s of processors"


def examples(browser, folder, names):
    """Ask the question of each example, as the page suggests it."""
    begun = time.perf_counter()
    server = Server(folder)
    page = browser.new_page()
    page.goto(server.address)
    page.wait_for_selector("[data-example=gas]")
    print(f"  to the page {time.perf_counter() - begun:6.1f} s")
    for name in names:
        read = timed(server, page, lambda n=name: page.click(f"[data-example={n}]"), READ)
        answered = timed(server, page, lambda: page.click("#asking button.main"), ANSWERED)
        print(f"  {name:9} read {read}; answer {answered}")
    page.context.close()
    server.end()


def first(browser, folder, names):
    """Ask each example of a server that has nothing compiled."""
    for name in names:
        with TemporaryDirectory() as cache:
            os.environ["NUMBA_CACHE_DIR"] = cache
            examples(browser, folder, [name])
            del os.environ["NUMBA_CACHE_DIR"]


def large(browser, folder, names):
    """Ask for the law of a large table."""
    path = folder / "large.csv"
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        file.write(",".join([f"x{i}" for i in range(19)] + ["y"]) + "\n")
        for _ in range(20):
            X = rng.uniform(1.0, 3.0, (50_000, 19))
            y = X[:, 0] * X[:, 1] / X[:, 2] * (1 + 0.01 * rng.normal(size=len(X)))
            np.savetxt(file, np.column_stack([X, y]), fmt="%.5f", delimiter=",")
    server = Server(folder)
    page = browser.new_page()
    page.goto(server.address)
    print(f"  {path.stat().st_size / 1e6:.0f} MB")
    print("  read", timed(server, page, lambda: page.set_input_files("#file", path), READ))
    page.select_option("#asking select[name=target]", "y")
    ask = timed(server, page, lambda: page.click("#asking button.main"), ANSWERED)
    print("  answer", ask, page.inner_text("#answer .verdict")[:60])
    print("  MB at most: {} of the page's process, {} of the other".format(*memory(server)))
    page.context.close()
    server.end()


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["examples", "first", "large"])
    parser.add_argument("--names", nargs="*", default=NAMES)
    given = parser.parse_args()
    with Browser() as browser, TemporaryDirectory() as folder:
        for what in given.what:
            print(what)
            globals()[what](browser, Path(folder), given.names)


if __name__ == "__main__":
    main()
