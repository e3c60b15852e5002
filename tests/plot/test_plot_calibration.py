"""Pictures of calibrations."""

import numpy as np
import pytest

from vanishing import OAVI, EllipsoidCalibration

pytest.importorskip("matplotlib").use("Agg")
from vanishing.plot import CalibrationDisplay  # noqa: E402


@pytest.mark.parametrize("n_axes", [2, 3])
def test_readings_before_and_after(n_axes):
    rng = np.random.default_rng(0)
    u = rng.normal(size=(100, n_axes))
    u /= np.linalg.norm(u, axis=1)[:, np.newaxis]
    X = 5.0 + 3.0 * u * np.linspace(0.8, 1.2, n_axes)
    display = CalibrationDisplay.from_estimator(EllipsoidCalibration().fit(X), X)
    n_panels = n_axes * (n_axes - 1) // 2
    assert len(display.axes_) == len(display.outlines_) == n_panels
    before, after = (points.get_offsets() for points in display.points_[:2])
    assert np.allclose(before, X[:, :2]) and np.allclose(after, display.after[:, :2])
    outline = np.linalg.norm(display.outlines_[0].get_xydata(), axis=1)
    assert np.allclose(outline, display.radius)
    assert np.allclose(np.linalg.norm(display.after, axis=1), display.radius)


def test_what_cannot_be_drawn_is_named():
    X = np.zeros((20, 3))
    with pytest.warns(UserWarning, match="do not determine"):
        flat = EllipsoidCalibration().fit(X)
    with pytest.raises(ValueError, match="there is no calibration to draw"):
        CalibrationDisplay.from_estimator(flat, X)
    with pytest.raises(TypeError, match="draws an EllipsoidCalibration"):
        CalibrationDisplay.from_estimator(OAVI(), X)
