"""Threads: hold BLAS to one, as products here are too small to share out; work in several."""

import operator
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
_limit = None  # threadpoolctl's limiter, which can take the limit back
_setter: int | None = None  # the thread that set the limit; None: a thread that has ended


def _forget():
    """Start anew in a forked process, which does not have the threads that hold lock or limit."""
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

    The limit belongs to the process, so its holders are counted: the first sets it, the last takes
    it back. threadpoolctl lets only the thread that set it do so, while that thread lives: if it
    leaves while others still need the limit, a thread that ends at once sets the limit again.
    """
    global _limit, _setter
    thread_id = threading.get_ident()
    try:
        with _lock:
            _holders[thread_id] = _holders.get(thread_id, 0) + 1
            if _limit is None:
                _setter = thread_id
                _set_limit()
        yield
    finally:
        with _lock:
            _holders[thread_id] = _holders.get(thread_id, 1) - 1
            if not _holders[thread_id]:
                del _holders[thread_id]
            leaves = _setter == thread_id and thread_id not in _holders
            if _limit is not None and (leaves or not _holders):
                _limit.__exit__(None, None, None)
                _limit, _setter = None, None
                if _holders:
                    thread = threading.Thread(target=_set_limit)
                    thread.start()
                    thread.join()


# -- Work in several threads ----------------------------------------------------------------------

# How many threads the running code may use, its own included; None: no limit has been set.
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
    """Let the code inside use ``n_jobs`` threads, as joblib counts them, within an outer limit.

    None changes nothing: the outer limit holds, or, without one, that of joblib's
    `parallel_config`, which is one thread by default.
    """
    if n_jobs is None:
        yield
        return
    check_jobs(n_jobs)
    from joblib import effective_n_jobs

    limit, outer = effective_n_jobs(n_jobs), _allowed.get()
    token = _allowed.set(limit if outer is None else min(limit, outer))
    try:
        yield
    finally:
        _allowed.reset(token)


def n_threads() -> int:
    """Return how many threads the caller may use, its own included."""
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
    n_items = len(items)
    with threads(n_jobs):
        # No thread waits for another: lists may come in any order, and are put into theirs.
        return fold(lambda item: [function(item)], items, operator.iadd, n_items, n_items) or []


def fold(function, items, combine, n_items=None, n_ahead=None):
    """Combine ``function(item)`` of all items in their order, whatever the number of threads.

    That is ``combine(combine(f(a), f(b)), f(c))``, to the last bit. Items are taken one by one,
    whenever a thread is free, and few items and answers are held at a time.

    Parameters
    ----------
    function : callable
        Its answer may be None, which is left out.
    items : iterable
    combine : callable
    n_items : int or None
        How many there are; None means many.
    n_ahead : int or None
        How many answers a thread may be ahead of the first that is missing, before it waits;
        None means two per thread.

    Returns
    -------
    answer : the combined one, or None
    """
    allowed = 1 if n_items is not None and n_items <= 1 else n_threads()
    n_workers = allowed if n_items is None else min(allowed, n_items)
    answers = _OrderedAnswers(combine, 2 * n_workers if n_ahead is None else n_ahead)
    if n_workers > 1:
        _share_out(function, items, allowed, n_workers, answers)
    else:
        for item in items:
            answers.add(function(item))
    return answers.total


class _OrderedAnswers:
    """Combines answers in the order of their items, whichever comes first.

    A thread that brings an answer combines all answers that can be combined by then; a thread that
    is ahead by ``n_ahead`` answers waits.
    """

    def __init__(self, combine, n_ahead: int):
        self.combine = combine
        self.n_ahead = n_ahead
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
            self.changed.wait_for(lambda: place < self.next + self.n_ahead or self.is_over)
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


def _share_out(function, items, allowed: int, n_workers: int, answers: _OrderedAnswers) -> None:
    """Let threads, this one among them, take items one after the other and bring the answers.

    The first error, in the order of the items, is raised; after an error no item is taken.
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
                answers.take(place, function(item))
        except BaseException as error:
            errors[place] = error
            over.set()
            answers.give_up()

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
