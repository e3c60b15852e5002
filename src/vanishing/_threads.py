"""Threads: one of BLAS, whose products here are too small to share out; and work in several."""

import os
import threading
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from numbers import Integral
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_holders: dict[int, int] = {}  # how often each thread has asked for the limit
_limit = None  # what set it, to be asked to take it back
_setter: int | None = None  # the thread that set it; None: one that is gone


def _forget():
    """Start anew in a forked process: the threads that hold the lock or the limit are not there."""
    global _lock, _limit, _setter
    _lock, _limit, _setter = threading.Lock(), None, None
    _holders.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds: once per process.
    return ThreadpoolController().select(user_api="blas")


def _set_limit():
    global _limit
    blas = _controller()
    if any(library.num_threads != 1 for library in blas.lib_controllers):
        _limit = blas.limit(limits=1)
        _limit.__enter__()


@contextmanager
def one_blas_thread():
    """Hold BLAS to one thread.

    The setting belongs to the process, so that its holders are counted: the first one sets it, and
    the last one takes it back. threadpoolctl lets only the thread that set it do so, as long as
    that lives: if it leaves while others still need the limit, it is set anew by a thread that ends
    at once.
    """
    global _limit, _setter
    me = threading.get_ident()
    try:
        with _lock:
            _holders[me] = _holders.get(me, 0) + 1
            if _limit is None:
                _setter = me
                _set_limit()
        yield
    finally:
        with _lock:
            _holders[me] = _holders.get(me, 1) - 1
            if not _holders[me]:
                del _holders[me]
            leaves = _setter == me and me not in _holders
            if _limit is not None and (leaves or not _holders):
                _limit.__exit__(None, None, None)
                _limit, _setter = None, None
                if _holders:
                    thread = threading.Thread(target=_set_limit)
                    thread.start()
                    thread.join()


# -- Work in several threads ----------------------------------------------------------------------

# How many threads whoever runs here may use, itself included; None: nobody has said so.
_allowed: ContextVar[int | None] = ContextVar("allowed", default=None)


def check_jobs(n_jobs) -> None:
    """Raise TypeError or ValueError unless ``n_jobs`` is a number of threads, or None."""
    if n_jobs is None:
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be an integer or None; got {n_jobs!r}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: -1 means all cores, None means one.")


@contextmanager
def threads(n_jobs):
    """Let what is inside use ``n_jobs`` threads, as joblib counts them, but no more than it may.

    None says nothing: who is inside may use what was allowed before, or, where nobody has said
    anything yet, what joblib's `parallel_config` says, which is one thread without it.
    """
    if n_jobs is None:
        yield
        return
    check_jobs(n_jobs)
    from joblib import effective_n_jobs

    wanted, before = effective_n_jobs(n_jobs), _allowed.get()
    token = _allowed.set(wanted if before is None else min(wanted, before))
    try:
        yield
    finally:
        _allowed.reset(token)


def n_threads() -> int:
    """Return how many threads whoever asks may use, its own included."""
    allowed = _allowed.get()
    if allowed is None:
        from joblib import effective_n_jobs

        allowed = effective_n_jobs(None)
    return allowed


def spread(function, items, n_jobs=None) -> list:
    """Return ``[function(item) for item in items]``, with ``n_jobs`` threads.

    Where there are fewer items than threads, each item may use several. Unlike scikit-learn's
    `Parallel` it leaves the filters of warnings alone: these belong to the process, and concurrent
    fits would restore those of one another.
    """
    with threads(n_jobs):
        allowed = n_threads() if len(items) > 1 else 1
        if allowed <= 1:
            return [function(item) for item in items]
        found = _InAnyOrder()
        _share_out(function, items, allowed, min(allowed, len(items)), found)
        return [found.answers[place] for place in range(len(items))]


def fold(function, items, combine, n_items=None):
    """Combine ``function(item)`` of all items in their order, whatever the number of threads.

    That is ``combine(combine(f(a), f(b)), f(c))``, to the last bit. Items are taken one by one,
    whenever a thread is free, and few of them and of the answers are held at a time.

    Parameters
    ----------
    function : callable
        Its answer may be None, which is left out.
    items : iterable
    combine : callable
    n_items : int or None
        How many there are; None means many.

    Returns
    -------
    answer : the combined one, or None
    """
    allowed = 1 if n_items is not None and n_items <= 1 else n_threads()
    n_workers = allowed if n_items is None else min(allowed, n_items)
    found = _InOrder(combine, 2 * n_workers)
    if n_workers > 1:
        _share_out(function, items, allowed, n_workers, found)
    else:
        for item in items:
            found.add(function(item))
    return found.total


class _InAnyOrder:
    """Keeps answers as they come."""

    def __init__(self):
        self.answers = {}

    def take(self, place: int, answer) -> None:
        self.answers[place] = answer

    def give_up(self) -> None:
        """Let nobody wait."""


class _InOrder:
    """Combines answers in the order of their items, whichever comes first.

    Whoever brings an answer combines all that are there; who is ahead by ``limit`` answers waits.
    """

    def __init__(self, combine, limit: int):
        self.combine = combine
        self.limit = limit
        self.total = None
        self.waiting: dict[int, Any] = {}
        self.next = 0
        self.is_busy = self.is_over = False
        self.changed = threading.Condition()

    def add(self, answer) -> None:
        if answer is not None:
            self.total = answer if self.total is None else self.combine(self.total, answer)

    def take(self, place: int, answer) -> None:
        with self.changed:
            self.waiting[place] = answer
            self.changed.wait_for(lambda: place < self.next + self.limit or self.is_over)
            if self.is_busy:
                return
            self.is_busy = True
        while True:
            with self.changed:
                if self.next not in self.waiting:
                    self.is_busy = False
                    return
                answer = self.waiting.pop(self.next)
            self.add(answer)
            with self.changed:
                self.next += 1
                self.changed.notify_all()

    def give_up(self) -> None:
        with self.changed:
            self.is_over = True
            self.changed.notify_all()


def _share_out(function, items, allowed: int, n_workers: int, found) -> None:
    """Let threads, this one among them, take items one after the other and bring the answers.

    The first error, in the order of the items, is raised; nobody takes items after one.
    """
    from sklearn import config_context, get_config

    config, context = get_config(), copy_context()  # of this thread, and of what runs in it
    items, taking, over = iter(items), threading.Lock(), threading.Event()
    errors: dict[int, BaseException] = {}
    n_taken = 0

    def work() -> None:
        nonlocal n_taken
        _allowed.set(allowed // n_workers)
        place = 0
        try:
            while not over.is_set():
                with taking:
                    place = n_taken
                    item = next(items, over)
                    if item is over:
                        return
                    n_taken += 1
                found.take(place, function(item))
        except BaseException as error:
            errors[place] = error
            over.set()
            found.give_up()

    def run() -> None:
        with config_context(**config):
            context.copy().run(work)

    others = [threading.Thread(target=run, daemon=True) for _ in range(n_workers - 1)]
    started = []
    try:
        for thread in others:
            thread.start()
            started.append(thread)
        run()
    finally:
        over.set()
        for thread in started:
            thread.join()
    if errors:
        raise errors[min(errors)]
