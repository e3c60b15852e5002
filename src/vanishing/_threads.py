"""Threads: one of BLAS, whose products here are too small to share out; and work in several."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
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
    # Finding the libraries takes milliseconds: once per process.
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


def spread(function, items, n_jobs) -> list:
    """Return ``[function(item) for item in items]``, with ``n_jobs`` threads.

    Unlike scikit-learn's `Parallel` it leaves the filters of warnings alone: these belong to the
    process, and concurrent fits would restore those of one another.
    """
    from joblib import effective_n_jobs
    from sklearn import config_context, get_config

    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be an integer or None; got {n_jobs!r}.")
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [function(item) for item in items]
    config, context = get_config(), copy_context()  # of this thread alone

    def run(item):
        with config_context(**config):
            return context.copy().run(function, item)

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(run, items))
