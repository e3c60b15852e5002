"""The command ``warm-up``: compile the solvers before anybody waits for them."""

import os
import time
import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from vanishing.cli.app import FOR_MACHINES, command
from vanishing.cli.console import console, print_json, progress, table

_ROWS = 200  # of the tables that are fitted; what is compiled does not depend on them


@command("vanishing warm-up", panel=FOR_MACHINES)
def warm_up(json: Annotated[bool, Option("--json", help="Print the seconds as JSON.")] = False):
    """Compile the solvers now, so that later commands and programs start at once.

    Numba compiles each solver when it is first called, and keeps the result beside the package, or
    in the folder that NUMBA_CACHE_DIR names. Run this once after an installation, for example when
    an image for a server is built. If the package's folder is read-only, set NUMBA_CACHE_DIR.
    """
    seconds = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tables as small as these give cause
        for words, fit in _FITS.items():
            begun = time.perf_counter()
            with progress(f"Compiling: {words}"):
                fit()
            seconds[words] = time.perf_counter() - begun
    if json:
        print_json({"seconds": seconds, "folder": _folder()})
        return
    printer, shown = console(), table("what", "#seconds")
    for words, taken in seconds.items():
        shown.add_row(words, f"{taken:.1f}")
    printer.print(shown)
    printer.print(f"The compiled code is in {_folder()}.", soft_wrap=True)


def _folder() -> str:
    """Return where Numba keeps what it compiled, as far as its settings say."""
    import vanishing

    package = Path(vanishing.__file__).parent
    here = str(package) if os.access(package, os.W_OK) else "the cache folder of this user"
    return os.environ.get("NUMBA_CACHE_DIR") or here


def _rows(n_columns: int = 3) -> np.ndarray:
    return np.random.default_rng(0).uniform(1.0, 3.0, (_ROWS, n_columns))


def _generators():
    from vanishing import ABM, AVI, OAVI, VCA
    from vanishing.oracles import ORACLES

    X = _rows()
    X[:, 2] = X[:, 0] * X[:, 1]
    for oracle in ORACLES:
        for region in ("l1", "l2"):
            try:
                OAVI(psi=0.01, oracle=oracle, region=region, max_degree=2).fit(X).transform(X)
            except ValueError:  # not every oracle knows every region
                continue
    for construction in (ABM, AVI, VCA):
        construction(psi=0.01, max_degree=2).fit(X).transform(X)
    OAVI(psi=0.01, oracle="agd", certify=False, refit=False, max_degree=2).fit(X)
    OAVI(psi=0.01).fit(X).dimension()


def _classes():
    from vanishing import VanishingClassifierCV

    X = _rows()
    labels = (X[:, 0] * X[:, 1] > 4.0).astype(int)
    search = VanishingClassifierCV(psis=(0.01,), Cs=(1.0,), cv=3).fit(X, labels)
    search.predict_proba(X)
    search.explain(X[:5])


def _laws():
    from vanishing import LawFinder, check_law

    X = _rows()
    noise = 0.01 * np.random.default_rng(1).normal(size=_ROWS)
    LawFinder().fit(X, X[:, 0] * X[:, 1] / X[:, 2])
    LawFinder().fit(X, X[:, 0] * np.exp(-X[:, 1] / X[:, 2]) + noise)
    LawFinder().fit(X, X[:, 0] * X[:, 1] / (X[:, 0] + X[:, 2]) + noise)
    LawFinder().fit(X[:, :1], 2.0 * X[:, 0] ** 3 / (5.0 + X[:, 0] ** 3) + noise)
    LawFinder().fit(X, noise)
    LawFinder().fit(np.column_stack([X[:, 0], X[:, 1], X[:, 0] * X[:, 1]]))
    check_law("y = V*x0**n/(K**n + x0**n)", X[:, :1], X[:, 0] ** 2 / (1.0 + X[:, 0] ** 2) + noise)


def _rows_that_break_laws():
    from vanishing import VanishingOutlierDetector, VanishingRepair

    X = _rows(4)
    X[:, 3] = X[:, 0] * X[:, 1] + 0.01 * X[:, 2]
    detector = VanishingOutlierDetector().fit(X)
    detector.explain(X[:5])
    X[3, 1] = np.nan
    VanishingRepair().fit(X).transform(X)


def _motion():
    from vanishing import ConservedQuantities, EquationsOfMotion
    from vanishing.datasets import make_motion

    X, t, groups = make_motion("predator prey", 3, 60, noise=0.02, random_state=0)
    ConservedQuantities(max_degree=2).fit(X, groups=groups)
    EquationsOfMotion().fit(X, t, groups).simulate(X[0], t[:20])
    x = np.cos(2.0 * np.linspace(0.0, 10.0, 100))
    EquationsOfMotion(order=2).fit(x[:, np.newaxis], np.linspace(0.0, 10.0, 100))


_FITS = {
    "equations of points": _generators,
    "which class is it?": _classes,
    "which law holds?": _laws,
    "which rows break it?": _rows_that_break_laws,
    "how does it move?": _motion,
}
