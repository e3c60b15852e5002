"""One BLAS thread while we work: the products here are too small to share out."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_holders: dict[int, int] = {}  # how often each thread has asked for the limit
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


def _new_limit():
    return _controller().limit(limits=1, user_api="blas")


@contextmanager
def one_blas_thread():
    """Hold BLAS to one thread.

    The setting belongs to the process, so that its holders are counted: the first one sets it, and
    the last one takes it back. Only the thread that set it can do so (threadpoolctl sees to that):
    if it leaves while others still need the limit, a thread that does nothing else takes over.
    """
    global _limit, _setter
    me = threading.get_ident()
    try:
        with _lock:
            _holders[me] = _holders.get(me, 0) + 1
            if _limit is None:
                _setter = me
                _limit = _new_limit()
        yield
    finally:
        # Whatever is interrupted in here leaves a state that the next holder can go on from.
        with _lock:
            _holders[me] = _holders.get(me, 1) - 1
            if not _holders[me]:
                del _holders[me]
            if _limit is not None and _setter == me and me not in _holders:
                _limit.restore_original_limits()
                _limit, _setter = None, None
                if _holders:
                    _limit = _keeper().submit(_new_limit).result()
            elif _limit is not None and not _holders:
                _keeper().submit(_limit.restore_original_limits).result()
                _limit = None
