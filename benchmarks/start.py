"""The start of a process: imports, and the first fit, with and without compiled kernels."""

import os
import subprocess
import sys
import tempfile
from functools import cache

import numpy as np

from vanishing import OAVI

FIRST = """
import time
import numpy, numba, sklearn.base, sklearn.svm, sklearn.utils.validation
start = time.process_time()
from vanishing import OAVI
imported = time.process_time()
OAVI().fit(numpy.random.default_rng(0).random((50, 3)))
print(imported - start, time.process_time() - imported)
"""


@cache
def seconds(cached):
    """Return the seconds of the import beyond its dependencies', and of a first fit."""
    with tempfile.TemporaryDirectory() as folder:
        told = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        if cached:
            OAVI().fit(np.random.default_rng(0).random((50, 3)))  # fills it
        else:
            told["NUMBA_CACHE_DIR"] = folder
        command = [sys.executable, "-c", FIRST]
        result = subprocess.run(command, env=told, capture_output=True, text=True, check=True)
    return tuple(map(float, result.stdout.split()))


class Start:
    """Processor seconds of a new process, with a compilation cache that is filled or empty."""

    params = (("filled", "empty"),)
    param_names = ("cache",)

    def setup(self, kind):
        self.imported, self.fitted = seconds(kind == "filled")

    def track_import(self, *_):
        return self.imported

    track_import.unit = "s"

    def track_first_fit(self, *_):
        return self.fitted

    track_first_fit.unit = "s"
