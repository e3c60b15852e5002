"""Which guarantees a fitted model has, and whether they are informative."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import validate_data

from vanishing._types import Labels, Table
from vanishing.bounds.arguments import positive, probability
from vanishing.bounds.generators import INDEPENDENT, NEW_ROWS, of_generators
from vanishing.bounds.margins import of_margin
from vanishing.bounds.results import Report
from vanishing.constructions.abm import ABM
from vanishing.constructions.avi import AVI
from vanishing.constructions.oavi import OAVI
from vanishing.inspection import anatomy


def of(
    model: Any,
    X: Table | None = None,
    y: Labels | None = None,
    delta: float = 0.05,
    rho: float | None = None,
) -> Report:
    """Say which guarantees a fitted model has, and whether they are informative.

    For generators, of each class where there are classes:

    - "Lipschitz": how fast they may grow between rows (`lipschitz_bound`, own l1-norms);
    - "size": |G| + |O|, whatever the number of rows (`max_size`), where OAVI's parameters allow it;
    - "vanishing": their mean square on new rows (`vanishing_bound`) for the model's ``tau``, where
      the oracle respects it;
    - "vanishing, tau afterwards": the same for their largest l1-norm, rounded up to a power of 2;
    - "vanishing, by moments": the same by `moment_bound`, each with its own l1-norm.

    For a classifier also

    - "margin": its error on new rows (`margin_bound`);
    - "margin, by degree": the same, counting terms up to the model's degree, not order ideals.

    Everything that was not fixed before the fit has its price: k if ``max_terms`` is None, tau if
    it is taken afterwards, and the degree in the last bounds. So has the margin, or the size of the
    weights if ``rho`` is given. Each is rounded up on a grid 1, 2, 4, ... or 2, 4, 8, ... (degrees:
    1, 2, 3, ...), and the j-th point of a grid has delta / (j (j + 1)). The bounds hold for
    whatever polynomials and weights were chosen, by cross-validation of psi and C, too.

    Parameters
    ----------
    model : fitted OAVI, ABM, AVI, VanishingFeatures, VanishingClassifier or VanishingClassifierCV
        Or a pipeline that ends with one. Classifiers with two classes and a linear final estimator
        only.
    X : array-like of shape (n_samples, n_features), default=None
        The rows that the model was fitted to, which a fitted model does not keep (or other rows of
        the same distribution), as they were given to `fit`. In [-1, 1]^n, after scaling where
        the model scales. Without rows, generators have bounds without a value, but still with the
        number of samples needed; a classifier needs rows.
    y : array-like of shape (n_samples,), default=None
        Their labels; ignored for a single transformer.
    delta : float in (0, 1), default=0.05
        Probability with which each bound may fail; all of them hold with probability at least 1
        minus the sum.
    rho : float, default=None
        The margin, fixed in advance, in units of the decision values. None takes the best of a
        grid relative to the largest value that the decision function could have.

    Returns
    -------
    report : Report
        A sequence of `Bound`.

    Warns
    -----
    UserWarning
        If a classifier does not clip new rows to the range in which the bounds hold.

    See Also
    --------
    vanishing_bound : The mean square of generators on new rows.
    moment_bound : The same by moments, for any polynomials.
    margin_bound : The error of the classifier on new rows.
    max_size : How many generators and terms there can be.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI, bounds
    >>> rng = np.random.default_rng(0)
    >>> angle, radius = rng.uniform(0, 2 * np.pi, 10_000), rng.normal(0.8, 0.02, 10_000)
    >>> X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    >>> model = OAVI(psi=0.002, tau=3, max_degree=2, max_terms=5).fit(X)
    >>> report = bounds.of(model, X)
    >>> print(report["vanishing, by moments"])
    vanishing, by moments: informative
      E g(x)^2 <= 0.28 for every generator g (at most 0.001 on 10,000 rows, 6.9 anywhere; ...
    >>> bounds.of(model)["vanishing"].samples_needed
    2311
    """
    delta = probability(delta)
    if rho is not None:
        rho = positive("rho", rho)
    structure = anatomy(model)
    for part in structure.parts:
        if not isinstance(part.model, (OAVI, ABM, AVI)):
            raise TypeError(
                f"bounds.of needs generators of OAVI, ABM or AVI; got {type(part.model).__name__}. "
                "For polynomials of another origin see bounds.moment_bound."
            )
    if is_classifier(structure.core):
        _check_classifier(structure, X)
    rows, places = _labelled(structure, X, y)
    conditions = _conditions(structure)
    bounds = []
    for i, part in enumerate(structure.parts):
        own_rows = None if rows is None else rows[places == i]
        if own_rows is not None and not len(own_rows):
            raise ValueError(f"X has no rows of class {part.label!r}.")
        prefix = "" if structure.classes is None else f"class {part.label}: "
        bounds += of_generators(part.model, own_rows, delta, conditions, prefix)
    if is_classifier(structure.core):
        scores, signs = model.decision_function(X), 2 * places - 1
        bounds += of_margin(structure, scores, signs, delta, rho, (INDEPENDENT, *conditions))
    return Report(tuple(bounds), delta)


def _check_classifier(structure, X):
    if len(structure.classes) != 2:
        raise ValueError(
            "the margin bound is for two classes; the classifier has "
            f"{len(structure.classes)}. The bounds of its generators: bounds.of(model.features_, "
            "X, y) with scaled rows X."
        )
    if X is None:
        raise ValueError(
            "the margin bound needs rows and labels: give X and y that the classifier was fitted "
            "to. A fitted model does not keep them."
        )
    if not structure.decisions:
        raise ValueError(
            "the margin bound is for a linear final estimator, with coef_ and intercept_; got "
            f"{type(structure.core.final_estimator_).__name__}."
        )


def _labelled(structure, X, y):
    """Return rows as the generators take them, and the places of their classes."""
    if X is None:
        return None, None
    if structure.classes is not None and y is None:
        raise ValueError("with rows X the labels y are needed, too: each class has its own rows.")
    X = validate_data(structure.model, X, reset=False, dtype=[np.float64, np.float32])
    if structure.classes is None:
        return structure.scaled(X), np.zeros(len(X))
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise ValueError(f"y must have one label per row, shape ({len(X)},); got {y.shape}.")
    classes = structure.core.classes_
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        raise ValueError(f"y has the label {unknown[0]!r}, which the model was not fitted to.")
    return structure.scaled(X), np.searchsorted(classes, y)


def _conditions(structure) -> tuple[str, ...]:
    """Return what must be true of the scaling and of new rows; warn where clipping is missing."""
    if structure.scale is None:
        return (NEW_ROWS,)
    conditions = [
        "the scaling was fixed before the rows were seen (it was learned from them: give "
        "scale=False, clip=False and rows scaled by known ranges to meet the theorems to the "
        "letter)"
    ]
    scaling = getattr(structure.core, "scaling_", None)
    if scaling is None or not scaling.clip:
        conditions.append(f"{NEW_ROWS} after scaling")
        if scaling is not None and scaling.scale != "quantile":  # which clips anyway
            warnings.warn(
                "bounds.of: the guarantees are for new rows inside [-1, 1]^n after scaling; this "
                "classifier has clip=False, and rows outside the range of the training rows are "
                "not covered. With clip=True all are.",
                UserWarning,
                stacklevel=3,
            )
    return tuple(conditions)
