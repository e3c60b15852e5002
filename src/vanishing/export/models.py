"""Fitted models as computations: scaling, polynomials, their absolute values, linear decisions."""

import math
from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from vanishing.algebra import monomials
from vanishing.calibration.ellipsoid import EllipsoidCalibration
from vanishing.constructions.base import GeneratorTransformer
from vanishing.constructions.exact import BuchbergerMoller
from vanishing.estimators.names import input_names
from vanishing.export.computation import Computation, Value, columns, join
from vanishing.export.detectors import scores
from vanishing.export.formulas import law_computation, motion_computation, quantities_computation
from vanishing.export.scaling import scaled, transformed
from vanishing.inspection import ModelPart, anatomy
from vanishing.inspection.laws import is_about_laws
from vanishing.learning.classifier import LINEAR, VanishingClassifier
from vanishing.learning.features import VanishingFeatures
from vanishing.learning.search import VanishingClassifierCV
from vanishing.motion.conserved import ConservedQuantities
from vanishing.motion.equation import EquationOfMotion
from vanishing.motion.equations_of_motion import EquationsOfMotion
from vanishing.motion.quantity import ConservedQuantity
from vanishing.outliers.detector import VanishingOutlierDetector

_SHOWN = 20  # terms of a polynomial that a note shows
_EXPANDED = 500  # monomials up to which components are expanded for a note
_LARGEST = 1e300  # decision value that has a probability: infinity less infinity is no number


def computation_of(model) -> Computation:
    """Return what a fitted model computes from a row.

    Parameters
    ----------
    model : estimator, Pipeline, Law or EquationOfMotion

    Returns
    -------
    computation : Computation

    Raises
    ------
    TypeError
        If a part of it cannot be exported.
    """
    if is_about_laws(model):
        return law_computation(model)
    if isinstance(model, (ConservedQuantities, ConservedQuantity)):
        return quantities_computation(model)
    if isinstance(model, (EquationsOfMotion, EquationOfMotion)):
        return motion_computation(model)
    check_is_fitted(model)
    steps = _steps(model)
    # A pipeline whose first step passes rows through does not know its columns.
    first = next(part for part in [model, *steps] if hasattr(part, "n_features_in_"))
    x = columns(int(first.n_features_in_))
    for step in steps[:-1]:
        x = _transformed(x, step)
    last = steps[-1]
    common = (type(model).__name__,)
    names = tuple(str(name) for name in input_names(first))
    if isinstance(last, VanishingOutlierDetector):
        outputs, sign = scores(x, last)
        return Computation(*common, "detector", names, outputs, ("decision",), sign=sign)
    if isinstance(last, (VanishingClassifier, VanishingClassifierCV)) or type(last) in LINEAR:
        outputs, classes = _classifier(x, last)
        entries = tuple(map(str, classes[1:] if len(classes) == 2 else classes))
        return Computation(*common, "classifier", names, outputs, entries, classes)
    x = _transformed(x, last)
    out = tuple(f"feature{i}" for i in range(x.width))
    return Computation(*common, "transformer", names, {"features": x}, out)


def _steps(model) -> list:
    """Return the steps of a pipeline, or the model alone."""
    if type(model) is not Pipeline:
        return [model]
    parts = [step for _, step in model.steps if step is not None and step != "passthrough"]
    steps = [step for part in parts for step in _steps(part)]
    if not steps:
        raise TypeError("a pipeline that passes rows through cannot be exported: it does nothing.")
    return steps


def _transformed(x: Value, step) -> Value:
    """Return what a transformer makes of rows."""
    if isinstance(step, (GeneratorTransformer, VanishingFeatures)):
        return features(x, anatomy(step).parts)
    if isinstance(step, EllipsoidCalibration):
        return _calibrated(x, step)
    if isinstance(step, BuchbergerMoller):
        raise TypeError(
            "a BuchbergerMoller cannot be exported: its polynomials are exact, and other systems "
            "have floating-point numbers. OAVI(psi=0) finds them in these."
        )
    if hasattr(step, "predict") and not hasattr(step, "transform"):
        raise TypeError(
            f"a {type(step).__name__} cannot be exported: of models that predict, those of "
            "vanishing, LogisticRegression and LinearSVC can, as the last step; of a search, its "
            "best_estimator_."
        )
    return transformed(x, step)


def _calibrated(x: Value, calibration: EllipsoidCalibration) -> Value:
    """Return readings less the centre, times the matrix."""
    if not calibration.is_determined_:
        raise ValueError(f"the calibration cannot be exported: {calibration.verdict_}")
    offset = -calibration.center_ @ calibration.matrix_
    names = ", ".join(map(str, input_names(calibration)))
    note = f"Calibrated {names}: on a sphere of radius {calibration.radius_:.6g}"
    return x.linear(calibration.matrix_.T, offset).noted([note])


# -- Classifiers ----------------------------------------------------------------------------------


def _classifier(x: Value, model) -> tuple[dict[str, Value], np.ndarray]:
    """Return decision values, probabilities where there are some, and the classes."""
    if type(model) in LINEAR:
        decision = _linear(x, model.coef_.T, model.intercept_)
        return _with_probabilities(decision, _temperature(model)), model.classes_
    facts = anatomy(model)
    core, final = facts.core, facts.core.final_estimator_
    if type(final) not in LINEAR:
        raise TypeError(
            f"a classifier with final_estimator={final!r} cannot be exported: leave "
            "final_estimator out, or take LogisticRegression or LinearSVC."
        )
    parts = [part.subset(part.used) for part in facts.parts]
    weights = np.vstack([np.asarray(part.weights) for part in parts])
    if len(weights):
        decision = _linear(features(scaled(x, core.scaling_), parts), weights, final.intercept_)
    else:  # nothing vanishes: the intercept decides, for every row there is
        decision = _linear(x, np.zeros((x.width, weights.shape[1])), final.intercept_)
    temperature = _temperature(final) if core.temperature_ is None else core.temperature_
    return _with_probabilities(decision, temperature), core.classes_


def _linear(x: Value, weights, intercept) -> Value:
    return x.linear(weights.T, np.broadcast_to(intercept, weights.shape[1]))


def _temperature(final) -> float | None:
    """Return what decision values are divided by to be logits; None: no probabilities."""
    if not isinstance(final, LogisticRegression):
        return None
    each_alone = final.solver == "liblinear" or getattr(final, "multi_class", None) == "ovr"
    return None if each_alone and len(final.classes_) > 2 else 1.0


def _with_probabilities(decision: Value, temperature: float | None) -> dict[str, Value]:
    outputs = {"decision": decision}
    if temperature is not None:
        logits = decision.clip(-_LARGEST, _LARGEST)
        if decision.width == 1:
            logits = logits.linear([[-0.5], [0.5]])
        chances = ((logits - logits.largest()) / temperature).apply("exp")
        outputs["probabilities"] = chances / chances.sum()
    return outputs


# -- Generators -----------------------------------------------------------------------------------


def features(x: Value, parts: Sequence[ModelPart]) -> Value:
    """Return the values of the generators of all classes, in absolute size where these count."""
    are_scaled = x.operation != "columns"
    values = []
    for part in parts:
        if not len(part.generators):
            continue
        of = "" if part.label is None else f" of class {part.label!r}"
        heading = f"Generators{of}{' in the columns as scaled' if are_scaled else ''}:"
        value = _generators(x, part.generators).noted([heading, *_equations(part.generators)])
        values.append(value.apply("abs") if part.absolute else value)
    return join(values) if values else x.take([])


def _generators(x: Value, generators) -> Value:
    if hasattr(generators, "stages"):
        return _components(x, generators.stages)
    used = np.flatnonzero(generators.coef.any(axis=0))
    plan, place = monomials.plan(np.vstack([generators.terms[used], generators.leading_terms]))
    coef = np.zeros((len(generators), len(plan.parent)))
    coef[:, place[: used.size]] = generators.coef[:, used]
    coef[np.arange(len(coef)), place[used.size :]] += generators.leading_coef
    values = _monomials(x, plan)
    return values.linear(coef[:, 1:], coef[:, 0])


def _monomials(x: Value, plan: monomials.Plan) -> Value:
    """Return the terms of a plan but the constant: those of a degree from those of one less."""
    degree = np.zeros(len(plan.parent), dtype=np.intp)
    for i, parent in enumerate(plan.parent[1:], start=1):
        degree[i] = degree[parent] + 1
    levels: list[Value] = []
    start = 0  # of the terms of one degree less
    for d in range(1, int(degree.max(initial=0)) + 1):
        terms = np.flatnonzero(degree == d)
        level = x.take(plan.variable[terms])
        levels.append(levels[-1].take(plan.parent[terms] - start) * level if levels else level)
        start = terms[0]
    return join(levels)


def _components(x: Value, stages) -> Value:
    """Return generators that are combinations of products of components."""
    components: list[Value] = []
    generators = []
    for stage in stages:
        if stage.left is None:
            candidates = x
        else:
            # The constant is the first component, and no factor of a product.
            known = join(components)
            candidates = known.take(stage.left - 1) * known.take(stage.right - 1)
        matrix = np.hstack([stage.combine, stage.project[:, 1:]])
        values = join([candidates, *components]).linear(matrix, stage.project[:, 0])
        components.append(values.take(np.arange(stage.n_components)))
        generators.append(values.take(np.arange(stage.n_components, values.width)))
    return join([part for part in generators if part.width])


def _equations(generators) -> list[str]:
    if hasattr(generators, "stages"):
        n_features = len(generators.feature_names)
        if math.comb(n_features + generators.degree, n_features) > _EXPANDED:
            return [f"    {len(generators)}, as products of components"]
    return [f"    {g.equation(limit=_SHOWN)}" for g in generators]
