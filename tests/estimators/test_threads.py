"""The limit of BLAS threads: held as long as someone needs it, whoever came first."""

import threading

import pytest
from threadpoolctl import ThreadpoolController, threadpool_info

from vanishing._threads import one_blas_thread


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("BLAS has no two threads here")
    # The limit of another thread is not taken back: start from what the process has.
    return blas_threads()


def test_who_set_the_limit_may_leave_first(two_threads):
    before, seen = two_threads, []
    entered, left, second_is_in = (threading.Event() for _ in range(3))

    def first():
        with one_blas_thread():
            entered.set()
            second_is_in.wait(10)
        left.set()

    thread = threading.Thread(target=first)
    thread.start()
    assert entered.wait(10)
    with one_blas_thread():
        second_is_in.set()
        assert left.wait(10)
        seen.append(blas_threads())
        with one_blas_thread():  # of the same thread, again
            pass
        seen.append(blas_threads())
    thread.join()
    assert seen == [{1}, {1}]
    assert blas_threads() == before


def test_the_main_thread_may_leave_first(two_threads):
    before = two_threads
    main_left, seen = threading.Event(), []

    def second(entered):
        with one_blas_thread():
            entered.set()
            assert main_left.wait(10)
            seen.append(blas_threads())

    entered = threading.Event()
    with one_blas_thread():
        thread = threading.Thread(target=second, args=[entered])
        thread.start()
        assert entered.wait(10)
    main_left.set()
    thread.join()
    assert seen == [{1}]
    assert blas_threads() == before
    with one_blas_thread():  # and the main thread can set it again
        assert blas_threads() == {1}
    assert blas_threads() == before
