"""Degrees of freedom of the rows of a model, and whether its generators are all there are."""

from typing import Any


def freedom_of(model: Any) -> list[str]:
    """Say in sentences how many degrees of freedom columns have, where a construction can tell.

    Parameters
    ----------
    model : estimator
        A fitted construction.

    Returns
    -------
    sentences : list of str
        None for constructions that count no dimensions.
    """
    sentences = []
    if hasattr(model, "dimension") and model.n_generators_:
        sentences.append(_counted(model))
    if not getattr(model, "complete_", True):
        sentences.append(
            "The construction is not complete: terms of a higher degree are left, and may have "
            "further equations."
        )
    return sentences


def _counted(model) -> str:
    n_columns = model.n_features_in_
    columns = "The column has" if n_columns == 1 else f"The {n_columns} columns have"
    dimension, degree, certain = model.dimension()
    if dimension is None:
        return "The number of degrees of freedom is not determined: noise or psi is too large."
    freedoms = "1 degree" if dimension == 1 else f"{dimension} degrees"
    surely = "" if certain else "probably "
    shape = f", on a variety of degree {degree}" if dimension < n_columns else ""
    return f"{columns} {surely}{freedoms} of freedom{shape}."
