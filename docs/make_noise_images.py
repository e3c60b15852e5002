"""Make the picture of noise.md: ``python docs/make_noise_images.py`` writes docs/images."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from vanishing import OAVI, Moments
from vanishing.polynomials import Polynomial

IMAGES = Path(__file__).parent / "images"
# Okabe and Ito's colours, as in vanishing.plot.
BLUE, RED, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#5A5A5A"
CIRCLE = Polynomial([[0, 0], [2, 0], [0, 2]], [-1.0, 1.0, 1.0])
TRUTH = np.array([-1.0, 0, 0, 1, 0, 1])  # over 1, x0, x1, x0^2, x0 x1, x1^2


def half_circle(m, noise=0.1, seed=0):
    """Return points of a half circle with noise."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, m)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return circle + noise * rng.normal(size=circle.shape)


def conics(X):
    """Return the conics of raw and of debiased moments, by least squares of x1^2 and as we do."""
    moments = Moments(2, max_degree=3).update(X)
    x, y = X.T
    terms = np.column_stack([np.ones(len(X)), x, y, x * x, x * y])
    raw = np.append(np.linalg.lstsq(terms, -y * y, rcond=None)[0], 1.0)
    model = OAVI(1e-3, max_degree=2).fit_moments(moments.debiased(moments.estimate_noise()))
    return raw, np.append(model.coef_[0], 1.0)


def noise():
    """Draw a half circle with its conics, and how their errors depend on the rows."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
    X = half_circle(2000)
    left.scatter(*X[:700].T, s=5, color=GREY, alpha=0.4, linewidths=0)
    ticks = np.linspace(-1.7, 1.7, 500)
    x, y = np.meshgrid(ticks, ticks)
    rows = np.column_stack([x.ravel(), y.ravel()])
    exponents = [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    raw, debiased = (Polynomial(exponents, coef) for coef in conics(X))
    styles = [
        ("truth", CIRCLE, "black", "-", 1),
        ("raw moments", raw, RED, "-", 2),
        ("debiased moments", debiased, BLUE, "--", 2.5),
    ]
    for name, g, colour, line, width in styles:
        values = g(rows).reshape(x.shape)
        left.contour(x, y, values, [0], colors=colour, linestyles=line, linewidths=width)
        left.plot([], [], color=colour, linestyle=line, linewidth=width, label=name)
    left.set(xlim=(-1.7, 1.7), ylim=(-1.1, 2.1), aspect="equal", xlabel="$x_0$", ylabel="$x_1$")
    left.set_title("a half circle, noise 0.1", fontsize="medium")
    left.legend(frameon=False, fontsize=9, loc="upper left")
    sizes = np.array([1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000])
    errors = np.array(
        [
            np.mean(
                [
                    [np.abs(coef - TRUTH).max() for coef in conics(half_circle(m, seed=seed))]
                    for seed in range(30)
                ],
                axis=0,
            )
            for m in sizes
        ]
    )
    right.loglog(sizes, errors[:, 0], "o-", color=RED, label="raw moments")
    right.loglog(sizes, errors[:, 1], "o-", color=BLUE, label="debiased moments")
    right.loglog(sizes, errors[0, 1] * (sizes / sizes[0]) ** -0.5, ":", color=GREY)
    right.text(2.2e5, 0.016, "$1/\\sqrt{\\mathrm{rows}}$", color=GREY, fontsize=9)
    right.set(xlabel="rows", ylim=(1e-3, 3))
    right.set_title("largest error of a coefficient", fontsize="medium")
    right.legend(frameon=False, fontsize=9, loc="center right", bbox_to_anchor=(1, 0.72))
    return figure


def main():
    """Write the picture."""
    mpl.use("Agg")
    mpl.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 10})
    figure = noise()
    path = IMAGES / "noise_half_circle.png"
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
