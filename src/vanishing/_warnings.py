"""Warnings that point at the line of the user which led to them."""

import inspect
import warnings
from pathlib import Path

import joblib
import sklearn

# Whoever calls through scikit-learn (pipelines, searches) and its threads is not the caller.
_INSIDE = tuple(str(Path(module.__file__).parent) for module in (joblib, sklearn))
_INSIDE += (str(Path(__file__).parent),)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning at the innermost line outside of this library, scikit-learn and joblib."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
