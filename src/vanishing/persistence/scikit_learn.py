"""The estimators of scikit-learn that may be parts of a saved model."""

import functools
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted


@functools.cache
def kinds() -> dict[str, tuple]:
    """Return type, write and read of each kind; scikit-learn is large, and imported when needed."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import (
        MaxAbsScaler,
        MinMaxScaler,
        OneHotEncoder,
        QuantileTransformer,
        StandardScaler,
    )
    from sklearn.svm import LinearSVC

    columns, rows, quantiles = "n_features", "n_rows", "n_quantiles"
    ranges = ("scale_", "min_", "data_min_", "data_max_", "data_range_")
    known = {
        MinMaxScaler: {"n_samples_seen_": (), **dict.fromkeys(ranges, (columns,))},
        MaxAbsScaler: {
            "n_samples_seen_": (),
            **dict.fromkeys(("scale_", "max_abs_"), (columns,)),
        },
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
    by_name = {
        "Pipeline": (Pipeline, _write_pipeline, _read_pipeline),
        "ColumnTransformer": (ColumnTransformer, _write_columns, _read_columns),
        "SimpleImputer": (SimpleImputer, _write_imputer, _read_imputer),
        "OneHotEncoder": (OneHotEncoder, _write_encoder, _read_encoder),
    }
    for cls, attributes in known.items():
        write = functools.partial(_write_attributes, attributes)
        read = functools.partial(_read_attributes, attributes)
        by_name[cls.__name__] = (cls, write, read)
    return by_name


# Estimators that are made of others: the parameter that holds these, and others that are saved.
COMPOSED = {
    "Pipeline": ("steps", ("verbose",)),
    "ColumnTransformer": (
        "transformers",
        ("sparse_threshold", "transformer_weights", "verbose", "verbose_feature_names_out"),
    ),
}


@functools.cache
def transformers() -> tuple[type, ...]:
    """Return the types that transform rows."""
    return tuple(cls for cls, *_ in kinds().values() if not issubclass(cls, ClassifierMixin))


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


# -- Imputers and encoders: fitted anew to rows that have the values that were saved --------------
#
# What they keep besides their public attributes is scikit-learn's own, and differs by version.


def _write_imputer(writer, model) -> dict:
    indicator = model.indicator_
    return {
        **writer.input(model),
        "statistics": _write_entries(writer, model.statistics_, "statistics_"),
        "indicated": None if indicator is None else indicator.features_.tolist(),
    }


def _read_imputer(reader, node, model):
    statistics, indicated = reader.fitted(model, node, ("statistics", "indicated"))
    statistics = _read_entries(reader, statistics, "statistics")
    reader.require(len(statistics) == model.n_features_in_, "statistics are of other columns.")
    rows = statistics[np.newaxis].copy()
    if indicated is not None:
        last = model.n_features_in_ - 1
        places = reader.integers(indicated, "indicated", 0, last)
        rows = np.vstack([rows, rows])
        reader.require(len(places) == 0 or _holds_gaps(rows), "integers have no gaps.")
        rows[1, places] = model.missing_values
    _fit_anew(reader, model, rows)
    same = _equal(model.statistics_, statistics)
    same &= (model.indicator_ is None) == (indicated is None)
    if indicated is not None and same:
        same &= model.indicator_.features_.tolist() == places.tolist()
    reader.require(same, "the statistics are not those of a SimpleImputer with its parameters.")


def _holds_gaps(rows: np.ndarray) -> bool:
    return rows.dtype.kind in "fO"


def _write_encoder(writer, model) -> dict:
    if any(each is not None for each in getattr(model, "infrequent_categories_", ())):
        raise TypeError(
            "a OneHotEncoder with infrequent categories cannot be saved: name the categories that "
            "are to be kept, in its parameter categories, and handle_unknown='ignore'."
        )
    return {
        **writer.input(model),
        "categories": [_write_entries(writer, each, "categories_") for each in model.categories_],
    }


def _read_encoder(reader, node, model):
    (listed,) = reader.fitted(model, node, ("categories",))
    listed = reader.listed(listed, "categories", model.n_features_in_)
    categories = [_read_entries(reader, each, "categories") for each in listed]
    reader.require(all(map(len, categories)), "a column has no categories.")
    n_rows = max(map(len, categories))
    reader.allocate(8 * n_rows * len(categories))
    numeric = all(each.dtype.kind in "iuf" for each in categories)
    rows = np.empty((n_rows, len(categories)), dtype=np.float64 if numeric else object)
    for j, each in enumerate(categories):
        rows[:, j] = each[np.arange(n_rows) % len(each)]
    model.min_frequency = model.max_categories = None  # which found no category infrequent
    _fit_anew(reader, model, rows)
    same = all(map(_equal, model.categories_, categories))
    reader.require(same, "the categories are not those of a OneHotEncoder with its parameters.")
    model.categories_ = categories  # with their dtypes


def _write_entries(writer, values: np.ndarray, what: str):
    """Write an array of numbers, of texts, or of both."""
    if values.dtype != object:
        return writer.array(values, what)
    return [writer.value(value, what) for value in values]


def _read_entries(reader, node, what: str) -> np.ndarray:
    if not isinstance(node, list):
        return reader.array(node, what, (None,))
    reader.allocate(8 * len(node))
    values = np.empty(len(node), dtype=object)
    values[:] = [reader.value(each) for each in node]
    single = all(isinstance(value, (str, int, float, np.generic, type(None))) for value in values)
    reader.require(single, f"{what} has an entry that is no number and no text.")
    return values


def _fit_anew(reader, model, rows) -> None:
    """Fit to rows that give a model what was saved of it; its columns stay as they are."""
    names = getattr(model, "feature_names_in_", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(rows)
        except Exception as error:  # scikit-learn may raise anything
            reader.require(False, f"the parameters of {type(model).__name__} do not work: {error}")
    if names is not None:
        model.feature_names_in_ = names


def _equal(first, second) -> bool:
    """Say whether two arrays hold the same values; NaN equals NaN."""
    if len(first) != len(second):
        return False
    return all(a == b or (a != a and b != b) for a, b in zip(first, second, strict=True))


# -- Columns that are transformed apart -----------------------------------------------------------


def _write_columns(writer, model) -> dict:
    from sklearn.preprocessing import FunctionTransformer

    parts = []
    for name, part, columns in model.transformers_:
        columns = _listed_columns(columns, model)
        if isinstance(part, FunctionTransformer) and part.func is None:
            part = "passthrough"  # which scikit-learn replaces
        elif not isinstance(part, str):
            part = writer.model(part) if columns else "drop"
        parts.append([name, part, columns])
    return {
        **writer.input(model),
        "transformers": parts,
        "sparse_output": bool(model.sparse_output_),
    }


def _listed_columns(columns, model) -> list:
    """Return the places of columns, or their names, as a list."""
    places = np.arange(model.n_features_in_)
    if isinstance(columns, (str, int, np.integer)):
        raise TypeError(
            f"a ColumnTransformer with columns={columns!r}, a single column that its transformer "
            "sees as a vector, cannot be saved: give a list of columns."
        )
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            names = model.feature_names_in_.tolist()
            start = None if columns.start is None else names.index(columns.start)
            stop = None if columns.stop is None else names.index(columns.stop) + 1
            columns = slice(start, stop, columns.step)
        return places[columns].tolist()
    columns = np.asarray(columns)
    return (places[columns] if columns.dtype == bool else columns).tolist()


def _read_columns(reader, node, model):
    from sklearn.base import clone
    from sklearn.frozen import FrozenEstimator

    keys = ("transformers", "sparse_output")
    listed, sparse = reader.fitted(model, node, keys)
    n_features = model.n_features_in_
    names = getattr(model, "feature_names_in_", None)
    parts = []
    example = np.zeros(n_features, dtype=object)
    for entry in reader.listed(listed, "transformers"):
        name, part, columns = reader.listed(entry, "a transformer", 3)
        name = reader.string(name, "the name of a transformer")
        columns = reader.listed(columns, "columns")
        places = _places(reader, columns, names, n_features)
        if not isinstance(part, str):
            part = reader.model(part, transformers())
            fits = getattr(part, "n_features_in_", None) == len(places)
            reader.require(fits, "a transformer is of another number of columns.")
            example[places] = _example(part)
        else:
            reader.require(part in ("drop", "passthrough"), "a transformer is not known.")
        parts.append((name, part, columns))
    rest = parts[-1:] if parts and parts[-1][0] == "remainder" else []
    fixed = parts[: len(parts) - len(rest)]

    def frozen(part):
        return part if isinstance(part, str) else FrozenEstimator(part)

    model.transformers = [(name, frozen(part), columns) for name, part, columns in fixed]
    if rest:
        model.remainder = frozen(rest[0][1])
    _fit_anew(reader, model, _one_row(example, names))
    found, saved = (
        [(name, _places(reader, list(cs), names, n_features).tolist()) for name, _, cs in each]
        for each in (model.transformers_, parts)
    )
    reader.require(
        found == saved, "the columns are not those of a ColumnTransformer with its parameters."
    )
    model.transformers_ = [
        old if isinstance(new[1], str) else new
        for old, new in zip(model.transformers_, parts, strict=True)
    ]
    model.sparse_output_ = reader.flag(sparse, "sparse_output")
    model.transformers = [(name, clone(part, safe=False), columns) for name, part, columns in fixed]
    if rest:
        model.remainder = clone(rest[0][1], safe=False)


def _places(reader, columns: list, names, n_features: int) -> np.ndarray:
    """Return the places of columns that are given by place or by name."""
    if not (columns and isinstance(columns[0], str)):
        return reader.integers(columns, "columns", 0, n_features - 1)
    known = [] if names is None else names.tolist()
    reader.require(all(each in known for each in columns), "a column is not known.")
    return np.array([known.index(each) for each in columns], dtype=np.intp)


def example_rows(model):
    """Return a row that a fitted transformer takes."""
    return _one_row(_example(model), getattr(model, "feature_names_in_", None))


def _example(model) -> np.ndarray:
    """Return values that a fitted transformer takes, one for each of its columns."""
    steps = [step for _, step in getattr(model, "steps", ()) if hasattr(step, "transform")]
    if steps:
        return _example(steps[0])
    values = np.zeros(model.n_features_in_, dtype=object)
    if hasattr(model, "categories_"):
        values[:] = [each[0] for each in model.categories_]
    elif hasattr(model, "statistics_"):
        values[:] = model.statistics_
    return values


def _one_row(values: np.ndarray, names):
    """Return a table of one row, with the dtypes of its values."""
    if names is None:
        numbers = all(isinstance(value, (int, float, np.number)) for value in values)
        return values[np.newaxis].astype(np.float64) if numbers else values[np.newaxis]
    import pandas as pd

    return pd.DataFrame({name: [value] for name, value in zip(names, values, strict=True)})
