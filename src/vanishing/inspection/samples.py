"""Which rows or items stand for all, where they are too many to show."""

import numpy as np


def evenly(size: int, limit: int) -> np.ndarray:
    """Return at most ``limit`` places out of ``size``, evenly spread."""
    return np.linspace(0, max(0, size - 1), min(limit, size)).astype(int)
