"""Pictures of conserved quantities: what is drawn is what they are along the runs."""

import numpy as np
import pytest
from moving import SYSTEMS, simulated

import vanishing
from vanishing import ConservedQuantities

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def fitted(name, noise=0.01):
    X, groups = simulated(name, noise)
    model = ConservedQuantities(**SYSTEMS[name].parameters).fit(X, groups=groups)
    return model, X, groups


def test_quantities_over_time():
    from vanishing.plot import ConservedQuantitiesDisplay

    model, X, groups = fitted("rigid body")
    t = np.tile(np.linspace(5, 0, 80), 40)  # backwards
    display = ConservedQuantitiesDisplay.from_estimator(model, X, groups, t)
    assert len(display.axes_) == 2 and [len(lines) for lines in display.lines_] == [40, 40]
    values = model.transform(X)
    for i in range(2):
        x, y = display.lines_[i][7].get_data()
        assert (np.diff(x) > 0).all()
        np.testing.assert_allclose(y[::-1], values[groups == 7, i])
    ratio = display.within_**2 / (display.within_**2 + display.between_**2)
    np.testing.assert_allclose(ratio, model.ratio_, rtol=0.3)
    figure, ax = plt.subplots()
    assert ConservedQuantitiesDisplay.from_estimator(model, X, groups, ax=ax).figure_ is figure


def test_phase_portrait():
    from vanishing.plot import PhasePortraitDisplay

    model, X, groups = fitted("Lotka-Volterra")
    display = PhasePortraitDisplay.from_estimator(model, X, groups)
    assert display.ax_.get_xlabel() == "$x$" and len(display.points_) == 40
    assert set(display.levels) <= set(np.unique(display.levels)) and len(display.levels) == 12
    np.testing.assert_allclose(display.levels[0], model.values_.min(), rtol=1e-6)
    # The curves lie where the quantity has their values.
    for level, path in zip(display.levels, display.contours_.get_paths(), strict=True):
        on_curve = model.quantities_[0](path.vertices)
        np.testing.assert_allclose(on_curve, level, atol=0.02)


def test_pictures_of_nothing():
    from vanishing.plot import ConservedQuantitiesDisplay, PhasePortraitDisplay

    model, X, groups = fitted("Lorenz")
    for display in (ConservedQuantitiesDisplay, PhasePortraitDisplay):
        with pytest.raises(ValueError, match="nothing to draw"):
            display.from_estimator(model, X, groups)
        with pytest.raises(TypeError, match="ConservedQuantities is needed"):
            display.from_estimator(vanishing.OAVI(), X, groups)
    model, X, groups = fitted("rigid body")
    with pytest.raises(ValueError, match="two columns; the model has 3"):
        PhasePortraitDisplay.from_estimator(model, X, groups)
    with pytest.raises(ValueError, match="groups has 3199 entries"):
        ConservedQuantitiesDisplay.from_estimator(model, X, groups[1:])
