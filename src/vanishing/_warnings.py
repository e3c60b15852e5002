"""Warnings that point at the user's line that led to them."""

import inspect
import warnings

# Modules that are never the user's: scikit-learn's pipelines, searches and threads call us, too.
_INSIDE = ("vanishing", "sklearn", "joblib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the innermost line outside of this library, scikit-learn and joblib."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and _module(frame).partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _module(frame) -> str:
    return frame.f_globals.get("__name__") or ""
