"""Smooth paths, tapes and steps that equations of motion are made with."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from vanishing.algebra.expressions import Column
from vanishing.equations.forms import FORMS
from vanishing.motion.candidates import families, monomials
from vanishing.motion.given_parts import read_expression
from vanishing.motion.smoothing import Measured, smoothed
from vanishing.motion.stepping import DONE, STIFF, integrate
from vanishing.motion.tape import slopes_of, tape_of

NAMES = ("x", "y", "k")


def test_smooth_path_finds_the_noise():
    t = np.linspace(0, 10, 400)
    random = np.random.default_rng(0)
    x = np.sin(t) + 0.05 * random.normal(size=400)
    (path,) = smoothed([Measured(t, x, np.ones(400))])
    assert np.sqrt(np.mean((path(t) - np.sin(t)) ** 2)) < 0.015
    assert path.noise == pytest.approx(0.05, rel=0.1)
    assert np.sqrt(np.mean((path(t, 1) - np.cos(t)) ** 2)) < 0.1


def test_smooth_path_finds_that_noise_grows():
    t = np.linspace(0, 3, 400)
    x = np.exp(t) * (1 + 0.05 * np.random.default_rng(1).normal(size=400))
    (path,) = smoothed([Measured(t, x, np.ones(400))])
    assert path.noise[-1] / path.noise[0] == pytest.approx(np.exp(3), rel=0.4)


@pytest.mark.parametrize(
    "text",
    ["x*y^3 - 2*k", "sin(k*x)*exp(-y)", "x/(k + x)", "sqrt(x)*log(y) + x^2.5", "1/(1 + y^2)^2",
     "tanh(x) + abs(y)*cos(k) - x^-3"],
)  # fmt: skip
def test_slopes_of_tapes_are_differences(text):
    tape = tape_of([read_expression(text, NAMES), Column(0)])
    room, slopes, result = np.empty(len(tape.codes)), np.empty(len(tape.codes)), np.empty(2)
    gradients, point = np.empty((2, 3)), np.array([0.7, 1.3, 0.4])
    slopes_of(tape, point, room, slopes, result, gradients)
    exact, value = gradients[0].copy(), result[0]
    formula = text.replace("^", "**")
    functions = {name: getattr(np, name) for name in ("sin", "cos", "exp", "log", "sqrt", "tanh")}
    scope = dict(zip(NAMES, point, strict=True)) | functions | {"abs": abs}
    assert value == pytest.approx(eval(formula, {}, scope), rel=1e-12)
    for i in range(3):
        step = np.zeros(3)
        step[i] = 1e-6
        values = []
        for sign in (1, -1):
            slopes_of(tape, point + sign * step, room, slopes, result, gradients)
            values.append(result[0])
        assert exact[i] == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-6, abs=1e-8)


def integrated(texts, start, parameters, t, pace=0.1, bounded=True):
    names = ("x", "y", "a", "b")[: len(start)] + ("a", "b")[: len(parameters)]
    tape = tape_of([read_expression(text, names) for text in texts])
    n, p = len(start), len(parameters)
    path, tangents = np.full((len(t), n), np.nan), np.full((len(t), n, n + p), np.nan)
    U = np.zeros((len(t), 0))
    ended = integrate(
        tape, np.array(start), np.array(parameters), t, U, path, tangents, True, False, pace,
        bounded,
    )  # fmt: skip
    return ended, path, tangents


def test_steps_and_tangents_agree_with_scipy_and_differences():
    texts = ["a*x - b*x*y", "b*x*y - y"]
    t = np.linspace(0, 5, 30)
    ended, path, tangents = integrated(texts, [1.5, 0.7], [1.1, 0.8], t)
    truth = solve_ivp(
        lambda _, z: [1.1 * z[0] - 0.8 * z[0] * z[1], 0.8 * z[0] * z[1] - z[1]],
        (0, 5), [1.5, 0.7], t_eval=t, rtol=1e-11, atol=1e-12,
    ).y.T  # fmt: skip
    assert ended == DONE
    assert np.abs(path - truth).max() < 1e-5
    for i in range(4):
        moved = []
        for sign in (1, -1):
            values = np.array([1.5, 0.7, 1.1, 0.8])
            values[i] += sign * 1e-5
            moved.append(integrated(texts, values[:2], values[2:], t)[1])
        difference = (moved[0] - moved[1]) / 2e-5
        assert np.abs(tangents[:, :, i] - difference).max() < 1e-3


def test_stiff_steps_are_implicit_and_bounded():
    t = np.linspace(0, 2, 5)
    _, path, tangents = integrated(["a*(y - x)", "-y"], [2.0, 1.0], [1e5], t, bounded=False)
    assert path[-1, 0] == pytest.approx(np.exp(-2), rel=1e-4)
    assert np.isfinite(tangents).all()
    ended, _, _ = integrated(["a*(1 + x^2)*(y - x)", "-y"], [2.0, 1.0], [1e14], t)
    assert ended in (DONE, STIFF)


def test_families_keep_their_constants_apart():
    (family,) = families(2, 0, 0.1, 3.0, [FORMS["Michaelis-Menten saturation"]])
    term = family.candidate.with_constants([0.5])
    values = term.values(np.array([[1.0, 2.0], [0.0, 0.0]]))
    assert values == pytest.approx([1 / 1.5, 1 / 2.5])
    assert [c.degree for c in monomials(2, range(2), 2)] == [0, 1, 1, 2, 2, 2]
