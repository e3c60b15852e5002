"""Warnings that point at the line of the user which led to them."""

import inspect
import warnings

# Whoever calls through scikit-learn (pipelines, searches) and its threads is not the caller.
_INSIDE = ("vanishing", "sklearn", "joblib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning at the innermost line outside of this library, scikit-learn and joblib."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and _module(frame).partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _module(frame) -> str:
    return frame.f_globals.get("__name__") or ""
