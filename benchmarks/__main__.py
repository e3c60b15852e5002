"""Run cases without asv, each in a process of its own, and print a line for each.

    python -m benchmarks [PATTERN ...]

For machines that have what the library needs and no more, such as one with many cores or a GPU.
Patterns are regular expressions, of names as asv writes them: `threads.*30000000`, `^fit.Fit`.
"""

import argparse
import itertools
import multiprocessing
import os
import re
import tempfile
from concurrent.futures import ProcessPoolExecutor

from .running import called, cases, line, suites


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=[""], metavar="PATTERN")
    wanted = re.compile("|".join(f"(?:{text})" for text in parser.parse_args().patterns))
    for suite, methods in suites():
        with tempfile.TemporaryDirectory() as folder:
            # Methods after cases: the rows of a case are written once and read by all.
            for case, method in itertools.product(cases(suite), methods):
                name = called(suite, method, case)
                if wanted.search(name):
                    context = multiprocessing.get_context("spawn")
                    with ProcessPoolExecutor(1, context, os.chdir, (folder,)) as process:
                        said = process.submit(line, suite, method, case).result()
                    print(f"{name:<60} {said}", flush=True)


if __name__ == "__main__":
    main()
