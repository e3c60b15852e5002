"""Make the pictures of idea.md: ``python docs/make_idea_images.py`` writes docs/images."""

from itertools import product
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from vanishing import OAVI, VanishingFeatures
from vanishing.datasets import make_circle

IMAGES = Path(__file__).parent / "images"
# Okabe and Ito's colours, as in vanishing.plot.
BLUE, RED, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#5A5A5A"


def grid(low, high, size=400):
    """Return the points of a square grid as two coordinates and as rows."""
    ticks = np.linspace(low, high, size)
    x, y = np.meshgrid(ticks, ticks)
    return x, y, np.column_stack([x.ravel(), y.ravel()])


def square(ax, low, high, title=None):
    """Make axes a plain square."""
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal", xlabel="$x_0$", ylabel="$x_1$")
    if title:
        ax.set_title(title, fontsize="medium")


def points_and_zeros():
    """Draw points, the equation found, and its absolute value."""
    X = make_circle(250, noise=0.04, random_state=0)
    (g,) = OAVI(psi=0.02, oracle="omp", max_degree=2).fit(X).generators_
    x, y, rows = grid(-1.6, 1.6)
    values = g(rows).reshape(x.shape)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), layout="constrained")
    for ax in axes[:2]:
        ax.scatter(*X.T, s=8, color=BLUE, alpha=0.6, linewidths=0)
    axes[1].contour(x, y, values, [0], colors=RED, linewidths=2)
    axes[1].text(0, 1.4, f"${g.to_latex()} = 0$", ha="center", va="center", color=RED)
    image = axes[2].pcolormesh(
        x, y, np.abs(values), cmap="Blues", vmax=1.5, shading="gouraud", rasterized=True
    )
    axes[2].contour(x, y, values, [0], colors=RED, linewidths=2)
    new = np.array([[0.6, 0.8], [0.1, -0.2], [1.25, -1.2]])
    axes[2].scatter(*new.T, s=30, color="black", zorder=3)
    for row, value in zip(new, np.abs(g(new)), strict=True):
        axes[2].annotate(
            f"{value:.2f}",
            row,
            xytext=(0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"},
        )
    titles = ("rows of the data", "the equation they satisfy", "$|g(x)|$: a feature")
    for ax, title in zip(axes, titles, strict=True):
        square(ax, -1.6, 1.6, title)
    figure.colorbar(image, ax=axes[2], shrink=0.8, extend="max")
    return figure


def write_monomial(a, b):
    """Return x0^a x1^b for a picture."""
    factors = [f"x_{i}" + (f"^{e}" if e > 1 else "") for i, e in enumerate((a, b)) if e]
    return f"${' '.join(factors) or '1'}$"


def staircase():
    """Draw how OAVI goes through the monomials of the points of a circle."""
    X = make_circle(250, noise=0.02, random_state=0)
    figure, axes = plt.subplots(1, 4, figsize=(10.5, 3.3), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.1)
    for degree, ax in zip((1, 2, 3, 4), axes, strict=True):
        model = OAVI(psi=0.005, oracle="omp", max_degree=degree).fit(X) if degree > 1 else None
        terms = {tuple(t) for t in model.terms_} if model else {(0, 0), (1, 0), (0, 1)}
        leading = {tuple(t) for t in model.leading_terms_} if model else set()
        for a, b in product(range(5), repeat=2):
            if a + b > 4:
                continue
            now = a + b == degree
            multiple = any(a >= p and b >= q for p, q in leading)
            if (a, b) in leading:
                face, edge, text = RED, RED, "white"
            elif multiple and a + b <= degree:
                face, edge, text = "#FBE3D3", "#FBE3D3", GREY
            elif (a, b) in terms and a + b <= degree:
                face, edge, text = ("#BBD9EC" if not now else "#6FB1DA"), BLUE, "black"
            else:
                face, edge, text = "none", "#D0D0D0", "#B0B0B0"
            ax.add_patch(
                Rectangle(
                    (a - 0.45, b - 0.45), 0.9, 0.9, facecolor=face, edgecolor=edge, linewidth=1
                )
            )
            ax.text(a, b, write_monomial(a, b), ha="center", va="center", color=text, fontsize=9)
        ax.set(xlim=(-0.6, 4.6), ylim=(-0.6, 4.6), aspect="equal")
        ax.set_title(f"degree {degree}", fontsize="medium")
        ax.axis("off")
    handles = [
        Rectangle((0, 0), 1, 1, facecolor="#6FB1DA", edgecolor=BLUE),
        Rectangle((0, 0), 1, 1, facecolor="#BBD9EC", edgecolor=BLUE),
        Rectangle((0, 0), 1, 1, facecolor=RED),
        Rectangle((0, 0), 1, 1, facecolor="#FBE3D3"),
        Rectangle((0, 0), 1, 1, facecolor="none", edgecolor="#D0D0D0"),
    ]
    labels = [
        "joined O in this degree",
        "in O before",
        "leads a generator",
        "multiple of a leading term: never looked at",
        "not reached yet",
    ]
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize=8.5)
    return figure


def tolerance():
    """Draw what is found on the same rows with three values of psi."""
    rng = np.random.default_rng(1)
    t = rng.uniform(-1, 1, 200)
    X = np.column_stack([t, 1.5 * t**2 - 0.6]) + rng.normal(scale=0.03, size=(200, 2))
    x, y, rows = grid(-1.25, 1.25)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.7), layout="constrained")
    for text, ax in zip(("0.3", "0.005", "0.00003"), axes, strict=True):
        psi = float(text)
        model = OAVI(psi=psi, oracle="omp", max_degree=5).fit(X)
        g = model.generators_[0]
        values = g(rows).reshape(x.shape)
        ax.contourf(x, y, np.abs(values), [0, np.sqrt(psi)], colors=[RED], alpha=0.25)
        ax.contour(x, y, values, [0], colors=RED, linewidths=1.8)
        ax.scatter(*X.T, s=7, color=BLUE, alpha=0.6, linewidths=0, zorder=3)
        square(ax, -1.25, 1.25, f"psi = {text}")
        terms = "1 term" if len(g.terms) == 1 else f"{len(g.terms)} terms"
        ax.set_xlabel(f"degree {g.degree}, {terms}, mean square {g.mse:.2g}")
        ax.set_ylabel("")
        ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    return figure


def classes():
    """Draw the varieties of two classes, and the classes in the features these give."""
    rng = np.random.default_rng(3)
    n = 150
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = np.column_stack([0.9 * np.cos(angle), 0.9 * np.sin(angle)])
    t = rng.uniform(-0.85, 0.85, n)
    arc = np.column_stack([t, 1.4 * t**2 - 0.55])
    X = np.vstack([ring, arc]) + rng.normal(scale=0.04, size=(2 * n, 2))
    y = np.repeat([0, 1], n)
    features = VanishingFeatures(OAVI(psi=0.015, oracle="omp", max_degree=2)).fit(X, y)
    firsts = [t.generators_[0] for t in features.transformers_]
    x0, x1, rows = grid(-1.3, 1.3)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
    for label, (g, colour, marker) in enumerate(zip(firsts, (BLUE, RED), "os", strict=True)):
        here = X[y == label]
        axes[0].scatter(*here.T, s=12, color=colour, marker=marker, alpha=0.6, linewidths=0)
        axes[0].contour(x0, x1, g(rows).reshape(x0.shape), [0], colors=colour, linewidths=1.8)
        axes[1].scatter(
            np.abs(firsts[0](here)),
            np.abs(firsts[1](here)),
            s=12,
            color=colour,
            marker=marker,
            alpha=0.6,
            linewidths=0,
            label=f"class {label}: ${g.to_latex()} = 0$",
        )
    square(axes[0], -1.3, 1.3, "each class has its own equation")
    axes[1].axline((0, 0), slope=1, color=GREY, linestyle="--", linewidth=1)
    axes[1].set(xlabel="$|g_0(x)|$", ylabel="$|g_1(x)|$", xlim=(-0.02, None), ylim=(-0.02, None))
    axes[1].set_title("in their features a line tells them apart", fontsize="medium")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def moments():
    """Draw what is read of the rows."""
    figure, ax = plt.subplots(figsize=(9.5, 2.9), layout="constrained")
    ax.set(xlim=(0, 19), ylim=(0, 5.6), aspect="equal")
    ax.axis("off")

    def block(x, y, width, height, face, edge=None, text="", colour="black", size=9.5):
        ax.add_patch(
            Rectangle((x, y), width, height, facecolor=face, edgecolor=edge or face, linewidth=1)
        )
        ax.text(
            x + width / 2,
            y + height / 2,
            text,
            ha="center",
            va="center",
            color=colour,
            fontsize=size,
        )

    def arrow(start, end, text):
        style = {"arrowstyle": "-|>", "color": GREY, "linewidth": 1.4}
        ax.annotate("", end, start, arrowprops=style)
        ax.text((start[0] + end[0]) / 2, start[1] + 0.25, text, ha="center", fontsize=9, color=GREY)

    for i in range(5):
        block(0.3, 0.4 + i, 2.0, 0.85, "#BBD9EC", BLUE, f"chunk {5 - i}")
    arrow((2.6, 2.8), (6.3, 2.8), "means of products\nof monomials")
    n = 6
    for i, j in product(range(n), repeat=2):
        shade = 0.25 + 0.6 / (1 + abs(i - j))
        block(6.7 + 0.5 * j, 1.3 + 0.5 * (n - 1 - i), 0.46, 0.46, mpl.colors.to_rgba(BLUE, shade))
    ax.text(8.2, 0.75, "moments, |O| x |O|", ha="center", fontsize=9.5)
    arrow((10.1, 2.8), (13.0, 2.8), "oracle")
    block(13.3, 2.1, 5.4, 1.4, "#FBE3D3", RED, "$x_1^2 + 0.99\\,x_0^2 - 0.99 = 0$", size=11)
    ax.text(16, 1.55, "generators", ha="center", fontsize=9.5)
    ax.text(1.3, 0.0, "rows", ha="center", fontsize=9.5)
    return figure


def main():
    """Write all pictures."""
    mpl.use("Agg")
    mpl.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 10})
    for make in (points_and_zeros, staircase, tolerance, classes, moments):
        figure = make()
        path = IMAGES / f"idea_{make.__name__}.png"
        figure.savefig(path, dpi=130, metadata={"Software": None})
        plt.close(figure)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
