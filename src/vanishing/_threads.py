"""One BLAS thread while we work: the products here are too small to share out."""

import os
import threading
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_held = False


def _forget():
    """Start anew in a forked process: the thread that holds the lock or the limit is not there."""
    global _lock, _held
    _lock, _held = threading.Lock(), False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds: once a process.
    return ThreadpoolController()


@contextmanager
def one_blas_thread():
    """Hold BLAS to one thread.

    The setting belongs to the process: of concurrent users only one sets it at a time, and takes
    it back itself, in its own thread, so that no one restores what another has set.
    """
    global _held
    limit = None
    try:
        with _lock:
            if not _held:
                limit = _controller().limit(limits=1, user_api="blas")
                limit.__enter__()
                _held = True
        yield
    finally:
        if limit is not None:
            with _lock:
                limit.__exit__(None, None, None)
                _held = False
