"""Labels of a file: whole numbers if that is how they are written, or text."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from vanishing.tables.cells import EXACT, numbers_of
from vanishing.tables.errors import LISTED, TableError


def classes_of(labels: np.ndarray, name: str) -> np.ndarray:
    """Return labels as numbers if all are whole numbers, or as text.

    Either way ``str`` of a label is its text in the file.

    Parameters
    ----------
    labels : ndarray of str
    name : str
        Name of their column, for messages.

    Examples
    --------
    >>> from vanishing.tables.labels import classes_of
    >>> classes_of(["0", "1", "0"], "class")
    array([0, 1, 0])
    >>> classes_of(["00", "01", "00"], "class")
    array(['00', '01', '00'], dtype=object)
    """
    values = label_values(labels)
    if values.dtype == bool:
        return np.asarray(labels, dtype=object)
    if values.dtype.kind == "f" and (measured := values[values != np.round(values)]).size:
        raise TableError(
            f"Column {name!r} holds numbers such as {measured[0]}, not classes: labels are whole "
            "numbers or text."
        )
    return values


def known_classes(labels: np.ndarray, classes: np.ndarray, name: str) -> np.ndarray:
    """Return the classes of a model that labels of a file are the text of.

    Raises
    ------
    TableError
        If a label is not one of the classes.
    """
    known = {str(label): i for i, label in enumerate(classes.tolist())}
    for label in Counter(labels):
        if label not in known:
            listed = ", ".join(map(repr, list(known)[:LISTED]))
            raise TableError(
                f"Column {name!r} has the label {label!r}, which is no class of the model; its "
                f"classes are {listed}."
            )
    return classes[[known[label] for label in labels]]


def label_values(labels: Sequence[str] | np.ndarray) -> np.ndarray:
    """Return labels as bool, int or float if all are written as Python writes these, or as text.

    If there are other than whole numbers, they are measurements, which may be spelled in any way.

    Parameters
    ----------
    labels : sequence of str

    Examples
    --------
    >>> from vanishing.tables.labels import label_values
    >>> label_values(["1", "2"]), label_values(["01", "1"]), label_values(["2", "1.50"])
    (array([1, 2]), array(['01', '1'], dtype=object), array([2. , 1.5]))
    """
    labels = np.asarray(labels, dtype=object)
    texts = list(dict.fromkeys(labels.tolist()))
    if set(texts) <= {"True", "False"}:
        return labels == "True"
    numbers = numbers_of(texts, None)
    if not np.isfinite(numbers).all():
        return labels
    kind: type = float
    if (numbers == np.round(numbers)).all():
        kind = int if all(text.lstrip("-").isdecimal() for text in texts) else float
        is_exact = bool((np.abs(numbers) < EXACT).all())
        if not is_exact or [str(kind(number)) for number in numbers] != texts:
            return labels
    known = {text: kind(number) for text, number in zip(texts, numbers, strict=True)}
    return np.array([known[label] for label in labels.tolist()])
