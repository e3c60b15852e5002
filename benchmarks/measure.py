"""Seconds of several functions in turns, and the memory that one needs."""

import threading
import time
from pathlib import Path

import numpy as np


def in_turns(*functions, repeat=5, clock=time.process_time):
    """Return the least seconds of each function, taken in turns so that noise hits all alike."""
    best = [np.inf] * len(functions)
    for _ in range(repeat):
        for i, function in enumerate(functions):
            start = clock()
            function()
            best[i] = min(best[i], clock() - start)
    return best


def ratio(function, beside, **options):
    """Return the seconds of a function over those of another."""
    seconds, others = in_turns(function, beside, **options)
    return seconds / others


def extra_memory(function):
    """Return the MiB of its own (not of mapped files) that a process needs while something runs."""
    before = peak = _anonymous()
    done = threading.Event()

    def watch():
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, _anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        function()
    finally:
        done.set()
        watcher.join()
    return peak - before


def _anonymous():
    status = Path("/proc/self/status")
    if not status.exists():
        raise NotImplementedError("the memory of a process is read from Linux's /proc")
    for line in status.read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    raise NotImplementedError("this Linux does not tell mapped files from other memory")
