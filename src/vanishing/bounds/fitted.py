"""Which guarantees a fitted model has, and whether they are informative."""

import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from vanishing.bounds.arguments import positive, probability
from vanishing.bounds.generators import INDEPENDENT, NEW_ROWS, of_features, of_generators
from vanishing.bounds.margins import of_margin
from vanishing.bounds.results import Report
from vanishing.constructions.abm import ABM
from vanishing.constructions.avi import AVI
from vanishing.constructions.oavi import OAVI
from vanishing.learning.classifier import VanishingClassifier
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.search import VanishingClassifierCV


def of(model, X=None, y=None, delta=0.05, rho=None):
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

    What was not fixed before the fit has its price: k, where ``max_terms`` is None; tau, where it
    is taken afterwards; the degree, in the last bounds; and the margin, or, where ``rho`` is given,
    the size of the weights. Each is rounded up on a grid 1, 2, 4, ... or 2, 4, 8, ... (degrees: 1,
    2, 3, ...), and the j-th point of a grid has delta / (j (j + 1)). The bounds hold for whatever
    polynomials and weights were chosen, by cross-validation of psi and C, too.

    Parameters
    ----------
    model : fitted OAVI, ABM, AVI, VanishingFeatures, VanishingClassifier or VanishingClassifierCV
        Classifiers with two classes and a linear final estimator only.
    X : array-like of shape (n_samples, n_features), default=None
        The rows that the model was fitted to, which a fitted model does not keep (or other rows of
        the same distribution), as they were given to `fit`. In [-1, 1]^n, for a classifier after
        its scaling. Without rows, generators have bounds without a value, but still with the
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

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import OAVI, bounds
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 10_000)
    >>> X = 0.8 * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = OAVI(psi=0.001, tau=3, max_degree=2, max_terms=5).fit(X)
    >>> report = bounds.of(model, X)
    >>> print(report["vanishing, by moments"])
    vanishing, by moments: informative
      E g(x)^2 <= 0.245 for every generator g (at most 0.000972 on 10,000 rows, 6.04 anywhere; ...
    >>> bounds.of(model)["vanishing"].samples_needed
    3020
    """
    delta = probability(delta)
    if rho is not None:
        rho = positive("rho", rho)
    if isinstance(model, VanishingClassifierCV):
        check_is_fitted(model)
        model = model.classifier_
    if isinstance(model, VanishingClassifier):
        found = _of_classifier(model, X, y, delta, rho)
    elif isinstance(model, VanishingFeatures):
        found = of_features(model, *_labelled(model, X, y), delta, (NEW_ROWS,))
    elif isinstance(model, (OAVI, ABM, AVI)):
        check_is_fitted(model)
        if X is not None:
            X = validate_data(model, X, reset=False, dtype=[np.float64, np.float32])
        found = of_generators(model, X, delta, (NEW_ROWS,))
    else:
        raise TypeError(
            "bounds.of knows fitted OAVI, ABM, AVI, VanishingFeatures, VanishingClassifier and "
            f"VanishingClassifierCV; got {type(model).__name__}. For polynomials of another origin "
            "see bounds.moment_bound."
        )
    return Report(tuple(found), delta)


def _labelled(model, X, y):
    """Return rows, and labels as places in ``classes_``; None and None without rows."""
    check_is_fitted(model)
    if X is None:
        return None, None
    if y is None:
        raise ValueError("with rows X the labels y are needed, too: each class has its own rows.")
    X = validate_data(model, X, reset=False, dtype=[np.float64, np.float32])
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise ValueError(f"y must have one label a row, shape ({len(X)},); got {y.shape}.")
    unknown = np.setdiff1d(y, model.classes_)
    if unknown.size:
        raise ValueError(f"y has the label {unknown[0]!r}, which the model was not fitted to.")
    return X, np.searchsorted(model.classes_, y)


def _of_classifier(model, X, y, delta, rho):
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise ValueError(
            f"the margin bound is for two classes; the classifier has {len(model.classes_)}. The "
            "bounds of its generators: bounds.of(model.features_, X, y) with scaled rows X."
        )
    if X is None:
        raise ValueError(
            "the margin bound needs rows and labels: give X and y that the classifier was fitted "
            "to. A fitted model does not keep them."
        )
    final = model.final_estimator_
    if getattr(final, "coef_", None) is None or not hasattr(final, "decision_function"):
        raise ValueError(
            "the margin bound is for a linear final estimator, with coef_ and intercept_; got "
            f"{type(final).__name__}."
        )
    rows, y = _labelled(model, X, y)
    conditions = []
    if model.scale is not False:
        conditions.append(
            "the scaling was fixed before the rows were seen (it was learned from them: give "
            "scale=False and rows scaled by known ranges to meet the theorems to the letter)"
        )
    if not model.clip:
        conditions.append(NEW_ROWS if model.scale is False else f"{NEW_ROWS} after scaling")
        if model.scale is not False and model.scale != "quantile":
            warnings.warn(
                "bounds.of: the guarantees are for new rows inside [-1, 1]^n after scaling; this "
                "classifier has clip=False, and rows outside the range of the training rows are "
                "not covered. With clip=True all are.",
                UserWarning,
                stacklevel=3,
            )
    scaled = model.scaling_(rows)
    found = of_features(model.features_, scaled, y, delta, tuple(conditions))
    scores = model.decision_function(X)
    return found + of_margin(model, scores, 2 * y - 1, delta, rho, (INDEPENDENT, *conditions))
