"""Fitted equations of motion as JSON values, written and read."""

import numpy as np

from vanishing.algebra.saving import read_tree, write_tree
from vanishing.motion.candidates import Candidate
from vanishing.motion.equation import read_equation, write_equation
from vanishing.motion.shooting import System
from vanishing.motion.simulation import FittedMotion

_ARRAYS = ("noise", "evidence", "lack_of_fit", "explained")


def write_equations(writer, model) -> dict:
    """Return the fitted part of `EquationsOfMotion` as JSON values."""
    motion = model._motion
    return {
        **writer.input(model),
        "equations": [write_equation(writer, equation) for equation in model.equations_],
        "front": [write_equation(writer, equation) for equation in model.front_],
        "motion": None if motion is None else _write_motion(writer, motion),
        **{name: list(map(writer.float, getattr(model, f"{name}_"))) for name in _ARRAYS},
        "n_pieces": int(model.n_pieces_),
        "n_inputs": int(model.n_inputs_),
        "ambiguous": list(model.ambiguous_),
        "runs": writer.array(model.runs_, "runs_"),
        "held_out": writer.array(model.held_out_, "held_out_"),
        "held_out_error": writer.float(model.held_out_error_),
        "verdict": model.verdict_,
        "batches": None if model.batches_ is None else writer.array(model.batches_, "batches_"),
        "differing": list(model.differing_),
    }


def read_equations(reader, node, model) -> None:
    """Set the fitted part of `EquationsOfMotion` as `write_equations` has written it."""
    keys = ("equations", "front", "motion", *_ARRAYS, "n_pieces", "n_inputs", "ambiguous", "runs")
    equations, front, motion, *rest = reader.fitted(
        model, node, (*keys, "held_out", "held_out_error", "verdict"), ("batches", "differing")
    )
    *arrays, n_pieces, n_inputs, ambiguous, runs, held_out, error, verdict = rest[:-2]
    batches, differing = rest[-2:]
    n = model.n_features_in_
    model.equations_ = [read_equation(reader, e) for e in reader.listed(equations, "equations")]
    model.front_ = [read_equation(reader, e) for e in reader.listed(front, "front")]
    for name, values in zip(_ARRAYS, arrays, strict=True):
        listed = reader.listed(values, name, n)
        setattr(model, f"{name}_", np.array([reader.measured(v, name) for v in listed]))
    model.n_pieces_ = reader.integer(n_pieces, "n_pieces", 0)
    model.n_inputs_ = reader.integer(n_inputs, "n_inputs", 0)
    model.ambiguous_ = [
        reader.string(a, "ambiguous") for a in reader.listed(ambiguous, "ambiguous")
    ]
    model.runs_ = reader.array(runs, "runs", (None,))
    model.held_out_ = reader.array(held_out, "held_out", (len(model.runs_),))
    model.held_out_error_ = reader.measured(error, "held_out_error")
    model.verdict_ = reader.string(verdict, "verdict")
    model.batches_ = None
    if batches is not None:
        model.batches_ = reader.array(batches, "batches", (len(model.runs_),))
    n_batches = 1 if model.batches_ is None else len(np.unique(model.batches_))
    model._motion = None if motion is None else _read_motion(reader, motion, n, n_batches)
    model.differing_ = list(reader.names(differing or [], "differing", None))


def _write_motion(writer, motion: FittedMotion) -> dict:
    """Write the structure and the parameters that are integrated."""
    system = motion.system
    return {
        "order": system.order,
        "n_inputs": system.n_inputs,
        "known": [None if node is None else write_tree(writer, node) for node in system.known],
        "equations": [
            [
                {
                    "term": write_tree(writer, term.node),
                    "constants": list(map(writer.float, term.constants)),
                    "degree": writer.float(term.degree),
                    "kinds": sorted(term.kinds),
                }
                for term in terms
            ]
            for terms in system.equations
        ],
        "parameters": writer.array(motion.parameters, "parameters"),
        "covariance": None
        if motion.covariance is None
        else writer.array(motion.covariance, "covariance"),
    }


def _read_motion(reader, node, n_columns: int, n_batches: int) -> FittedMotion:
    """Return what `_write_motion` has written."""
    keys = ("order", "n_inputs", "known", "equations", "parameters", "covariance")
    order, n_inputs, known, equations, parameters, covariance = reader.fields(
        node, "equations of motion", keys
    )
    order = reader.integer(order, "order", 1, 2)
    n_inputs = reader.integer(n_inputs, "n_inputs", 0)
    n = n_columns * order + n_inputs
    nodes = [
        None if part is None else read_tree(reader, part, n)
        for part in reader.listed(known, "known", n_columns)
    ]
    read = [
        [_read_term(reader, term, n) for term in reader.listed(terms, "terms")]
        for terms in reader.listed(equations, "equations", n_columns)
    ]
    system = System(read, n_inputs, order, nodes)
    size = system.n_parameters * n_batches
    parameters = reader.array(parameters, "parameters", (size,))
    if covariance is not None:
        covariance = reader.array(covariance, "covariance", (size, size))
    return FittedMotion(system, parameters, covariance)


def _read_term(reader, node, n_variables: int) -> Candidate:
    term, constants, degree, kinds = reader.fields(
        node, "a term", ("term", "constants", "degree", "kinds")
    )
    values = reader.floats(constants, "constants").tolist()
    return Candidate(
        read_tree(reader, term, n_variables + len(values)),
        n_variables,
        tuple(values),
        reader.measured(degree, "degree"),
        frozenset(reader.string(kind, "kind") for kind in reader.listed(kinds, "kinds")),
    )
