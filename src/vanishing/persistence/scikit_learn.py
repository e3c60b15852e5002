"""The estimators of scikit-learn that may be parts of a saved model."""

import functools
import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vanishing.persistence.values import Refused, fields, listed, string


@functools.cache
def kinds() -> dict[str, tuple]:
    """Return type, write and read of each kind; scikit-learn is large, and imported when asked."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler
    from sklearn.svm import LinearSVC

    columns, rows, quantiles = "n_features", "n_rows", "n_quantiles"
    known = {
        MinMaxScaler: {
            "n_samples_seen_": (),
            "scale_": (columns,),
            "min_": (columns,),
            "data_min_": (columns,),
            "data_max_": (columns,),
            "data_range_": (columns,),
        },
        StandardScaler: {
            "n_samples_seen_": (),
            "mean_": (columns,),
            "var_": (columns,),
            "scale_": (columns,),
        },
        QuantileTransformer: {
            "n_quantiles_": (),
            "quantiles_": (quantiles, columns),
            "references_": (quantiles,),
        },
        LogisticRegression: {"coef_": (rows, columns), "intercept_": (rows,), "n_iter_": ("n",)},
        LinearSVC: {"coef_": (rows, columns), "intercept_": (rows,), "n_iter_": ()},
    }
    found = {"Pipeline": (Pipeline, _write_pipeline, _read_pipeline)}
    for cls, attributes in known.items():
        write = functools.partial(_write_attributes, attributes)
        read = functools.partial(_read_attributes, attributes)
        found[cls.__name__] = (cls, write, read)
    return found


@functools.cache
def splitters() -> dict[str, tuple[type, tuple[str, ...]]]:
    """Return the splitters that `cv` may be, and their parameters."""
    from sklearn.model_selection import KFold, StratifiedKFold

    return {
        cls.__name__: (cls, ("n_splits", "shuffle", "random_state"))
        for cls in (KFold, StratifiedKFold)
    }


def n_decisions(classes) -> int:
    """Return how many linear functions tell the classes of a file apart."""
    if len(classes) < 2:
        raise Refused("a classifier has fewer than two classes.")
    return 1 if len(classes) == 2 else len(classes)


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
    optional = ("classes",) * linear + ("feature_names_in",)
    n_features, *values = fields(node, f"a fitted {name}", ("n_features_in", *keys), optional)
    reader.input(model, n_features, values.pop())
    sizes = {"n_features": n_features}
    if linear:
        model.classes_ = reader.classes(values.pop())
        sizes["n_rows"] = n_decisions(model.classes_)
    for (attribute, shape), value in zip(attributes.items(), values, strict=True):
        value = reader.value(value)
        optional = name == "StandardScaler" and shape  # without mean or without standard deviation
        if not (value is None and optional):
            numbers = np.asarray(value)
            wanted = [sizes.setdefault(n, m) for n, m in zip(shape, numbers.shape, strict=False)]
            if (
                numbers.ndim != len(shape)
                or (shape and not isinstance(value, np.ndarray))
                or numbers.shape != tuple(wanted)
                or numbers.dtype.kind not in "iuf"
                or not np.isfinite(numbers).all()
            ):
                raise Refused(f"{attribute.rstrip('_')} of {name} is not numbers of its shape.")
        setattr(model, attribute, value)
    reader.allocate(8 * n_features)
    if not _works(model, np.zeros((1, n_features)), linear):
        raise Refused(f"the parameters of {name} do not work.")


def _works(model, row, linear: bool) -> bool:
    """Say whether a model takes a row, whatever its parameters are."""
    with warnings.catch_warnings():  # that columns have no names, or what the numbers may cause
        warnings.simplefilter("ignore")
        try:
            out = np.asarray(model.predict(row) if linear else model.transform(row))
        except Exception:  # of scikit-learn's own, of any kind
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
    (steps,) = fields(node, "a fitted Pipeline", ("steps",))
    found = []
    for step in listed(steps, "steps"):
        name, part = listed(step, "a step", 2)
        if part is not None and part != "passthrough":
            part = reader.model(part)
        found.append((string(name, "the name of a step"), part))
    if not found or not any(hasattr(part, "get_params") for _, part in found):
        raise Refused("the pipeline has no steps.")
    for _, part in found[:-1]:
        if hasattr(part, "get_params") and not hasattr(part, "transform"):
            raise Refused("a step before the last is no transformer.")
    model.steps = found
    check_is_fitted(model)
