"""Make the pictures of the documentation: ``python docs/make_images.py`` writes docs/images."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale

from vanishing import (
    ABM,
    OAVI,
    ConservedQuantities,
    EquationsOfMotion,
    LawFinder,
    VanishingClassifier,
    check_law,
)
from vanishing.datasets import make_motion
from vanishing.plot import (
    CoefficientsDisplay,
    ConservedQuantitiesDisplay,
    DistanceDisplay,
    EquationsOfMotionDisplay,
    LawCurveDisplay,
    LawFrontDisplay,
    LawPredictionDisplay,
    LawResidualsDisplay,
    LawUnexplainedDisplay,
    PhasePortraitDisplay,
    PsiPathDisplay,
    StaircaseDisplay,
    ZeroSetDisplay,
)

IMAGES = Path(__file__).parent / "images"


def zero_sets_plane(rng):
    """Draw the one equation of a noisy lemniscate."""
    angle = rng.uniform(0, 2 * np.pi, 300)
    X = np.column_stack([np.sin(angle), 1.4 * np.sin(angle) * np.cos(angle)])
    X += rng.normal(scale=0.02, size=X.shape)
    model = OAVI(psi=0.0005, oracle="omp", max_degree=4).fit(X)
    return ZeroSetDisplay.from_estimator(model, X)


def zero_sets_classes(rng):
    """Draw, of each of two classes, the equation that counts most, in units of their own."""
    n = 150
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    t = rng.uniform(-1, 1, n)
    parabola = np.column_stack([t, t**2 - 0.6])
    X = np.concatenate([ring, parabola]) + rng.normal(scale=0.03, size=(2 * n, 2))
    X = X * [3.0, 40.0] + [10.0, 200.0]
    y = np.repeat(["ring", "parabola"], n)
    model = VanishingClassifier(OAVI(psi=0.002, oracle="omp", max_degree=2)).fit(X, y)
    return ZeroSetDisplay.from_estimator(model, X, y, generators=1)


def zero_sets_space(rng):
    """Draw the quadrics that a twisted cubic lies on."""
    t = rng.uniform(-1, 1, 150)
    X = np.column_stack([t, t**2, t**3]) + rng.normal(scale=0.01, size=(150, 3))
    model = OAVI(psi=0.001, oracle="omp", max_degree=2).fit(X)
    display = ZeroSetDisplay.from_estimator(model, X, generators=2)
    display.ax_.view_init(elev=22, azim=-50)
    return display


def staircase(rng):
    """Draw the order ideal of random points."""
    model = ABM(psi=0.0001).fit(rng.uniform(size=(16, 2)))
    return StaircaseDisplay.from_estimator(model)


def psi_path(rng):
    """Draw how the generators of the iris flowers change with psi."""
    X, y = load_iris(return_X_y=True)
    return PsiPathDisplay.from_estimator(VanishingClassifier(), X, y)


def coefficients(rng):
    """Draw sparse coefficients."""
    X, _ = load_iris(return_X_y=True, as_frame=True)
    X.columns = [name.removesuffix(" (cm)").replace(" ", "_") for name in X.columns]
    X[:] = minmax_scale(X)
    return CoefficientsDisplay.from_estimator(OAVI(psi=0.001).fit(X))


def distances(rng):
    """Draw how well the varieties of three classes of wine tell them apart."""
    wine = load_wine()
    model = VanishingClassifier(OAVI(psi=0.01)).fit(
        wine.data[::2], wine.target_names[wine.target[::2]]
    )
    return DistanceDisplay.from_estimator(
        model, wine.data[1::2], wine.target_names[wine.target[1::2]]
    )


def stones(rng):
    """Return stones of mass m, height h and speed v, and their energy with an error of 0.5."""
    table = pd.DataFrame(rng.uniform([1, 0, 1], [3, 5, 10], (1000, 3)), columns=["m", "v", "h"])
    E = 0.5 * table["m"] * table["v"] ** 2 + 9.81 * table["m"] * table["h"]
    return table.assign(E=E + rng.normal(scale=0.5, size=1000))


def laws_found(rng):
    """Draw the equations that were compared, and what the law of energy predicts."""
    table = stones(rng)
    finder = LawFinder().fit(table[["m", "v", "h"]], table["E"])
    _, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    LawFrontDisplay.from_estimator(finder, ax=left)
    return LawPredictionDisplay.from_estimator(finder, table, ax=right)


def laws_residuals(rng):
    """Draw what a law leaves over that somebody has in mind, and that lacks the speed."""
    table = stones(rng)
    return LawResidualsDisplay.from_estimator(check_law("E = g*m*h", table), table)


def laws_unexplained(rng):
    """Draw which columns explain it."""
    table = stones(rng)
    return LawUnexplainedDisplay.from_estimator(check_law("E = g*m*h", table), table)


def laws_curve(rng):
    """Draw the responses of two batches to doses, one of them wrong."""
    dose, batch = np.tile(np.geomspace(0.03, 100, 12), 6), np.repeat(["A", "B"], 36)
    response = 5 + 95 / (1 + (np.where(batch == "A", 2.4, 4.9) / dose) ** 1.3)
    table = pd.DataFrame({"dose": dose, "response": response + rng.normal(scale=2, size=72)})
    table.loc[56, "response"] = 21.3
    hill = "response = bottom + (top - bottom)/(1 + (EC50/dose)^h)"
    batch = pd.Series(batch, name="batch")
    laws = check_law(hill, table, groups=batch, robust=True)
    return LawCurveDisplay.from_estimator(laws, table, groups=batch)


def motion(rng):
    """Draw what swings of a spring keep, over time and as level curves."""
    size, t = np.linspace(0.5, 2, 12), np.linspace(0, 6, 60)
    runs = np.repeat(np.arange(12), 60)
    X = np.vstack([s * np.column_stack([np.cos(2 * t), -2 * np.sin(2 * t)]) for s in size])
    X += 0.02 * rng.normal(size=X.shape)
    model = ConservedQuantities().fit(X, groups=runs)
    _, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    ConservedQuantitiesDisplay.from_estimator(model, X, runs, np.tile(t, 12), ax=left)
    return PhasePortraitDisplay.from_estimator(model, X, runs, ax=right)


def equations_of_motion(rng):
    """Draw how predators and prey move: over time, residuals, and the field."""
    X, t, valley = make_motion("predator prey", 6, 60, noise=0.02, irregular=True, random_state=0)
    counts = pd.DataFrame(X, columns=["prey", "hunter"])
    model = EquationsOfMotion().fit(counts, t, groups=valley)
    return EquationsOfMotionDisplay.from_estimator(model, counts, t, valley)


def main():
    """Write all pictures."""
    mpl.use("Agg")
    IMAGES.mkdir(exist_ok=True)
    for make in (
        zero_sets_plane,
        zero_sets_classes,
        zero_sets_space,
        staircase,
        psi_path,
        coefficients,
        distances,
        laws_found,
        laws_residuals,
        laws_unexplained,
        laws_curve,
        motion,
        equations_of_motion,
    ):
        display = make(np.random.default_rng(0))
        path = IMAGES / f"plot_{make.__name__}.png"
        dpi = 85 if make is zero_sets_space else 100  # shades are long to write down
        display.figure_.savefig(path, dpi=dpi, pil_kwargs={"optimize": True})
        plt.close(display.figure_)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
