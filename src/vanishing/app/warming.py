"""What takes long before the first answer, done before anyone asks: imports and compilation."""

import contextlib
import threading
from collections.abc import Callable

import numpy as np


class Warming:
    """Asks each question of a small table, in a thread; `finish` waits until that is done."""

    wanted_by = ("ask", "choose", "apply")

    def __init__(self):
        self._thread = threading.Thread(target=_warm, daemon=True)
        self._thread.start()

    def finish(self, progress: Callable) -> None:
        """Wait for what is not done yet, and say why."""
        if self._thread.is_alive():
            progress(0, None, "Compiling, which takes some seconds the first time")
            self._thread.join()


def _warm() -> None:
    # Nobody asked: what goes wrong here is said when someone does.
    with contextlib.suppress(Exception):
        import pandas as pd

        from vanishing import LawFinder, VanishingOutlierDetector

        random = np.random.default_rng(0)
        rows = pd.DataFrame(random.uniform(1.0, 2.0, (60, 3)), columns=["a", "b", "c"])
        target = (rows["a"] * rows["b"] * (1 + 0.01 * random.normal(size=60))).rename("d")
        LawFinder().fit(rows, target)
        VanishingOutlierDetector(random_state=0).fit(rows.assign(d=target))
