"""Threads: one of BLAS, whose products here are too small to share out; and work in several."""

import os
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import islice
from numbers import Integral

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
    # Finding the libraries takes milliseconds: once a process.
    return ThreadpoolController()


def _set_limit():
    global _limit
    _limit = _controller().limit(limits=1, user_api="blas")
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


@contextmanager
def threads(n_jobs):
    """Let what is inside use ``n_jobs`` threads, as joblib counts them, but no more than it may.

    None says nothing: who is inside may use what was allowed before, or, where nobody has said
    anything yet, what joblib's `parallel_config` says, which is one thread without it.
    """
    if n_jobs is None:
        yield
        return
    if not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be an integer or None; got {n_jobs!r}.")
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


def _as_here(function, share: int):
    """Return the function as it runs here, for other threads, each of which may use a share.

    scikit-learn's settings are those of a thread; NumPy's errors and our threads, of a context.
    """
    from sklearn import config_context, get_config

    config, context = get_config(), copy_context()

    def shared(item):
        _allowed.set(share)
        return function(item)

    def run(item):
        with config_context(**config):
            return context.copy().run(shared, item)

    return run


def spread(function, items, n_jobs=None) -> list:
    """Return ``[function(item) for item in items]``, with ``n_jobs`` threads.

    Where there are fewer items than threads, each item may use several. Unlike scikit-learn's
    `Parallel` it leaves the filters of warnings alone: these belong to the process, and concurrent
    fits would restore those of one another.
    """
    with threads(n_jobs):
        n_items = len(items)
        allowed = n_threads() if n_items > 1 else 1
        if allowed <= 1:
            return [function(item) for item in items]
        n_workers = min(allowed, n_items)
        with ThreadPoolExecutor(n_workers) as pool:
            return list(pool.map(_as_here(function, allowed // n_workers), items))


def fold(function, items, combine, n_items=None):
    """Combine ``function(item)`` of all items in their order, whatever the number of threads.

    That is ``combine(combine(f(a), f(b)), f(c))``, to the last bit. Items are taken one by one, in
    this thread, and few of them and of the answers are held at a time.

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
    total = None

    def add(answer):
        nonlocal total
        if answer is not None:
            total = answer if total is None else combine(total, answer)

    allowed = 1 if n_items is not None and n_items <= 1 else n_threads()
    if allowed <= 1:
        for item in items:
            add(function(item))
        return total
    n_workers = allowed if n_items is None else min(allowed, n_items)
    run = _as_here(function, allowed // n_workers)
    items, waiting = iter(items), deque()  # (an item in a box, the future of its answer)
    with ThreadPoolExecutor(n_workers - 1) as pool:  # this thread works, too
        try:
            while True:
                for item in islice(items, 2 * n_workers - len(waiting)):
                    box = [item]
                    waiting.append((box, pool.submit(_unpacked, run, box)))
                if not waiting:
                    return total
                if not waiting[0][1].done():
                    _help(run, waiting)
                add(waiting.popleft()[1].result())
        except BaseException:
            for _, future in waiting:
                future.cancel()
            raise


def _unpacked(run, box: list):
    # Whoever waits for the answer does not hold on to the item.
    return run(box.pop())


def _help(run, waiting: deque) -> None:
    """Take the first item that no other thread has begun with."""
    for place, (box, future) in enumerate(waiting):
        if future.cancel():
            done: Future = Future()
            done.set_result(_unpacked(run, box))
            waiting[place] = box, done
            return
