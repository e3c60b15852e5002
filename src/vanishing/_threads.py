"""One BLAS thread while we work: the products here are too small to share out."""

import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_holders: Counter = Counter()  # how often each thread has asked for the limit
_limit = None  # what set it, to be asked to take it back
_setter: int | None = None  # the thread that set it; None: the keeper


def _forget():
    """Start anew in a forked process: the threads that hold the lock or the limit are not there."""
    global _lock, _limit, _setter
    _lock, _limit, _setter = threading.Lock(), None, None
    _holders.clear()
    _keeper.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds: once a process.
    return ThreadpoolController()


@cache
def _keeper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="vanishing-blas")


def _set_limit():
    global _limit
    limit = _controller().limit(limits=1, user_api="blas")
    limit.__enter__()
    _limit = limit


def _lift_limit():
    global _limit
    limit, _limit = _limit, None
    limit.__exit__(None, None, None)


@contextmanager
def one_blas_thread():
    """Hold BLAS to one thread.

    The setting belongs to the process, so that its holders are counted: the first one sets it, and
    the last one takes it back. Only the thread that set it can do so (threadpoolctl sees to that):
    if it leaves while others still need the limit, a thread that does nothing else takes over.
    """
    global _setter
    me = threading.get_ident()
    with _lock:
        if not _holders:
            _set_limit()
            _setter = me
        _holders[me] += 1
    try:
        yield
    finally:
        with _lock:
            _holders[me] -= 1
            if not _holders[me]:
                del _holders[me]
            if not _holders and _setter is None:
                _keeper().submit(_lift_limit).result()
            elif not _holders:
                _lift_limit()
            elif _setter == me and me not in _holders:
                _lift_limit()
                _keeper().submit(_set_limit).result()
                _setter = None
