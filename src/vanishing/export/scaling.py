"""Fitted scalers as computations."""

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from vanishing.export.computation import Steps, Value
from vanishing.learning.log_scaling import LogScaler
from vanishing.learning.scaling import Scaling


def scaled(x: Value, scaling: Scaling) -> Value:
    """Return what a classifier does with rows first."""
    if scaling.transformer is not None:
        x = transformed(x, scaling.transformer)
    if scaling.clip:
        x = x.clip(scaling.low, scaling.high)
    return x


def transformed(x: Value, scaler) -> Value:
    """Return the columns that a fitted scaler makes.

    Subclasses may do anything: types are compared.
    """
    kind = type(scaler)
    if kind is Pipeline:
        for _, step in scaler.steps:
            if step is not None and step != "passthrough":
                x = transformed(x, step)
        return x
    if kind is MinMaxScaler:
        x = x * scaler.scale_ + scaler.min_
        return x.clip(*map(float, scaler.feature_range)) if scaler.clip else x
    if kind is MaxAbsScaler:
        x = x / scaler.scale_
        return x.clip(-1.0, 1.0) if getattr(scaler, "clip", False) else x
    if kind is StandardScaler:
        x = x - scaler.mean_ if scaler.with_mean else x
        return x / scaler.scale_ if scaler.with_std else x
    if kind is RobustScaler:
        x = x - scaler.center_ if scaler.with_centering else x
        return x / scaler.scale_ if scaler.with_scaling else x
    if kind is LogScaler:
        x = ((x - scaler.centre_) / scaler.unit_).apply("arcsinh")
        return x * scaler.scale_ + scaler.min_
    if kind is QuantileTransformer and scaler.output_distribution == "uniform":
        references = np.asarray(scaler.references_)
        return x.quantiles([_steps(column, references) for column in scaler.quantiles_.T])
    raise TypeError(
        f"a {type(scaler).__name__} ({scaler!r}) cannot be exported: what it computes is not known "
        "here. Of scikit-learn, MinMaxScaler, MaxAbsScaler, StandardScaler, RobustScaler and "
        "QuantileTransformer to a uniform distribution can. Scale the columns before, outside of "
        "the model, and fit with scale=False; or take scale='minmax', 'quantile' or 'log'."
    )


def _steps(quantiles: np.ndarray, references: np.ndarray) -> Steps:
    """Return what `QuantileTransformer` does with a column.

    It is the mean of interpolation from below and from above, which differ at values that are
    several quantiles; the least and the largest value are 0 and 1.
    """
    knots, first, counts = np.unique(quantiles, return_index=True, return_counts=True)
    low, high = references[first], references[first + counts - 1]
    at = 0.5 * (low + high)
    at[-1], at[0] = 1.0, 0.0
    slope = np.append((low[1:] - high[:-1]) / np.diff(knots), 0.0)
    start = np.append(high[:-1], 1.0)
    return Steps(
        knots,
        np.append(knots[0], knots),
        np.append(0.0, at),
        np.append(0.0, start),
        np.append(0.0, slope),
    )
