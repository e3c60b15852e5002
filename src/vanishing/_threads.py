"""One BLAS thread while we work: the products here are too small to share out."""

import threading
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_users = 0


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds: once a process.
    return ThreadpoolController()


@contextmanager
def one_blas_thread():
    """Hold BLAS to one thread.

    The setting belongs to the process: of concurrent users only the first sets it, and takes it
    back itself, so that no one restores what another has set.
    """
    global _users
    with _lock:
        first = _users == 0
        _users += 1
        limit = _controller().limit(limits=1, user_api="blas") if first else None
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if first:
                limit.restore_original_limits()
