"""One BLAS thread while we work: the products here are too small to share out."""

import threading
from contextlib import ExitStack, contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_users = 0
_limit = ExitStack()


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds: once a process.
    return ThreadpoolController()


@contextmanager
def one_blas_thread():
    """Hold BLAS to one thread; the last of several concurrent users restores what was set."""
    global _users
    with _lock:
        if _users == 0:
            _limit.enter_context(_controller().limit(limits=1, user_api="blas"))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limit.close()
