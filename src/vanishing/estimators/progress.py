"""How far a fit is: events for `verbose`, and for callbacks set by `listening`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import NamedTuple

ProgressCallback = Callable[[int, int | None, str], object]


class _Listener(NamedTuple):
    """A callback, and a lock that lets it run in one thread at a time."""

    callback: ProgressCallback
    lock: Lock


# Threads that a fit starts see it, too: they run in copies of its context.
_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(callback: Callable[[int, int | None, str], object] | None) -> Iterator[None]:
    """Call a function whenever a fit inside the ``with`` block reports how far it is.

    Fits of `OAVI`, `ABM`, `AVI` and `VCA` report each degree, `LawFinder`,
    `VanishingOutlierDetector` and `ConservedQuantities` each step, and `VanishingClassifierCV` each
    fit to a fold. These are the events that ``verbose=1`` prints. An estimator that is made of
    others passes their events on, unless it counts its own steps.

    Parameters
    ----------
    callback : callable or None
        Called as ``callback(done, of, what)``. They are the number of the step, counted from 1; how
        many steps there will be, or None if that is unknown; and one line of text about the step.
        It may run in another thread, but never twice at the same time. An exception that it raises
        ends the fit, which leaves the estimator as it was. None: no callback is called inside the
        block, not even that of an outer block.

    See Also
    --------
    OAVI : With ``verbose=1`` it prints these events, as do the other estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI, listening
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> with listening(lambda done, of, what: print(done, of, what.split(",")[0])):
    ...     model = OAVI(psi=0.01, max_degree=2).fit(X)
    1 None degree 1: border 2
    2 None degree 2: border 3
    """
    if not (callback is None or callable(callback)):
        raise TypeError(f"callback must be callable, or None; got {callback!r}.")
    token = _listener.set(None if callback is None else _Listener(callback, Lock()))
    try:
        yield
    finally:
        _listener.reset(token)


class Progress:
    """Counts the steps of a fit, and reports each.

    Parameters
    ----------
    name : str
        Of the estimator, for the lines that are printed.
    verbose : int, default=0
        Whether to print a line per step.
    of : int, default=None
        How many steps there will be, if known; otherwise None.
    """

    def __init__(self, name: str, verbose: int = 0, of: int | None = None):
        self.name = name
        self.verbose = verbose
        self.of = of
        self.done = 0
        self._lock = Lock()

    def plan(self, n_steps: int) -> None:
        """Add to the number of steps to come."""
        with self._lock:
            self.of = (self.of or 0) + n_steps

    def step(self, what: str) -> None:
        """Report one more step, with a line of text about it."""
        with self._lock:  # so that events come in the order of their numbers
            self.done += 1
            if self.verbose:
                count = "" if self.of is None else f"{self.done}: "
                print(f"[{self.name}] {count}{what}", flush=True)
            listener = _listener.get()
            if listener is not None:
                with listener.lock, listening(None):  # a fit inside the callback is not reported
                    listener.callback(self.done, self.of, what)
