"""The estimators of scikit-learn that may be parts of a saved model."""

import functools
import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted


@functools.cache
def kinds() -> dict[str, tuple]:
    """Return type, write and read of each kind; scikit-learn is large, and imported when needed."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler
    from sklearn.svm import LinearSVC

    columns, rows, quantiles = "n_features", "n_rows", "n_quantiles"
    ranges = ("scale_", "min_", "data_min_", "data_max_", "data_range_")
    known = {
        MinMaxScaler: {"n_samples_seen_": (), **dict.fromkeys(ranges, (columns,))},
        StandardScaler: {
            "n_samples_seen_": (),
            **dict.fromkeys(("mean_", "var_", "scale_"), (columns,)),
        },
        QuantileTransformer: {
            "n_quantiles_": (),
            "quantiles_": (quantiles, columns),
            "references_": (quantiles,),
        },
        LogisticRegression: {"coef_": (rows, columns), "intercept_": (rows,), "n_iter_": ("n",)},
        LinearSVC: {"coef_": (rows, columns), "intercept_": (rows,), "n_iter_": ()},
    }
    by_name = {"Pipeline": (Pipeline, _write_pipeline, _read_pipeline)}
    for cls, attributes in known.items():
        write = functools.partial(_write_attributes, attributes)
        read = functools.partial(_read_attributes, attributes)
        by_name[cls.__name__] = (cls, write, read)
    return by_name


@functools.cache
def splitters() -> dict[str, tuple[type, tuple[str, ...]]]:
    """Return the splitters that `cv` may be, and their parameters."""
    from sklearn.model_selection import KFold, StratifiedKFold

    return {
        cls.__name__: (cls, ("n_splits", "shuffle", "random_state"))
        for cls in (KFold, StratifiedKFold)
    }


def _write_attributes(attributes, writer, model) -> dict:
    node = writer.classes(model) if hasattr(model, "classes_") else writer.input(model)
    for name in attributes:
        node[name.rstrip("_")] = writer.value(getattr(model, name), name)
    return node


def _read_attributes(attributes, reader, node, model):
    """Set fitted attributes whose values are numbers or arrays of the given shapes."""
    name = type(model).__name__
    linear = "coef_" in attributes
    keys = [attribute.rstrip("_") for attribute in attributes]
    values = reader.fitted(model, node, keys, classes=linear)
    n_features = model.n_features_in_
    sizes = {"n_features": n_features}
    if linear:
        sizes["n_rows"] = reader.n_decisions(model.classes_)
    for (attribute, shape), value in zip(attributes.items(), values, strict=True):
        value = reader.value(value)
        optional = name == "StandardScaler" and shape  # without mean or without standard deviation
        if not (value is None and optional):
            numbers = np.asarray(value)
            wanted = [sizes.setdefault(n, m) for n, m in zip(shape, numbers.shape, strict=False)]
            reader.require(
                numbers.ndim == len(shape)
                and (not shape or isinstance(value, np.ndarray))
                and numbers.shape == tuple(wanted)
                and numbers.dtype.kind in "iuf"
                and np.isfinite(numbers).all(),
                f"{attribute.rstrip('_')} of {name} is not numbers of its shape.",
            )
        setattr(model, attribute, value)
    reader.allocate(8 * n_features)
    works = _works(model, np.zeros((1, n_features)), linear)
    reader.require(works, f"the parameters of {name} do not work.")


def _works(model, row, linear: bool) -> bool:
    """Say whether a model takes a row, whatever its parameters are."""
    with warnings.catch_warnings():  # columns without names, numbers that overflow
        warnings.simplefilter("ignore")
        try:
            out = np.asarray(model.predict(row) if linear else model.transform(row))
        except Exception:  # scikit-learn may raise anything
            return False
    return linear or bool(np.isfinite(out).all())


def _write_pipeline(writer, model) -> dict:
    if model.memory is not None or getattr(model, "transform_input", None) is not None:
        raise TypeError(
            "a Pipeline with memory or transform_input cannot be saved: set them to None first."
        )
    steps = [
        [name, step if step is None or isinstance(step, str) else writer.model(step)]
        for name, step in model.steps
    ]
    return {"steps": steps}


def _read_pipeline(reader, node, model):
    (steps,) = reader.fields(node, "a fitted Pipeline", ("steps",))
    parts = []
    for step in reader.listed(steps, "steps"):
        name, part = reader.listed(step, "a step", 2)
        if part is not None and part != "passthrough":
            part = reader.model(part, BaseEstimator)
        parts.append((reader.string(name, "the name of a step"), part))
    estimators = [hasattr(part, "get_params") for _, part in parts]
    reader.require(any(estimators), "the pipeline has no steps.")
    for (_, part), is_estimator in zip(parts[:-1], estimators, strict=False):
        transforms = hasattr(part, "transform") or not is_estimator
        reader.require(transforms, "a step before the last is no transformer.")
    model.steps = parts
    check_is_fitted(model)
