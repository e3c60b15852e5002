"""The learning guarantees beside what happens: bounds, in-sample and out-of-sample values.

Rows near two concentric circles in [-1, 1]^2, a class each, m of both together. OAVI with a small
tau and few terms, both fixed in advance, constructs the generators of each class; a linear SVM with
l1 penalty tells the classes apart. For each number of rows and each split: the worst mean square of
a generator on its class's rows and on as many as 200,000 new ones, the bounds on the latter, the
error on new rows, and the bounds on that. Ends with an error if a bound does not hold.

    python benchmarks/studies/guarantees.py [--sizes 100 1000 ...] [--splits 5] [--picture FILE.png]
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

from vanishing import OAVI, VanishingClassifier, bounds

RADII = (0.6, 0.8)
NOISE = 0.04  # standard deviation of the radius
NEW_ROWS = 200_000
DELTA = 0.05
VANISHING = ("vanishing", "vanishing, tau afterwards", "vanishing, by moments")
MARGIN = ("margin", "margin, by degree")


def draw(m, rng):
    """Return m independent rows and labels; radii are cut off so that none leaves the cube."""
    y = rng.integers(0, 2, m)
    radius = np.clip(np.take(RADII, y) + NOISE * rng.normal(size=m), 0.0, 1.0)
    angle = rng.uniform(0.0, 2.0 * np.pi, m)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def split(m, seed, options):
    """Return what one split measures, and assert that its bounds hold."""
    X, y = draw(m, np.random.default_rng((seed, m)))
    Z, z = draw(NEW_ROWS, np.random.default_rng((seed, m, 1)))
    transformer = OAVI(
        options.psi, tau=options.tau, max_terms=options.max_terms, max_degree=options.max_degree
    )
    # The rows are in the cube as they come: nothing is scaled, nothing learned of their range.
    model = VanishingClassifier(transformer, C=options.C, scale=False, clip=False).fit(X, y)
    report = bounds.of(model, X, y, delta=DELTA)
    needed = [f"{name} needs" for name in VANISHING]
    found = dict.fromkeys(("in", "out", *VANISHING, *needed), 0.0)
    anywhere = []
    for label, part in zip(model.classes_, model.features_.transformers_, strict=True):
        if not part.n_generators_:
            continue
        out = np.mean(part.transform(Z[z == label]) ** 2, axis=0).max()
        anywhere.append((1.0 + np.abs(part.coef_).sum(axis=1).min()) ** 2)
        values = {"in": part.mse_.max(), "out": out}
        for name in VANISHING:
            values[name] = report[f"class {label}: {name}"].value
            values[f"{name} needs"] = report[f"class {label}: {name}"].samples_needed
            assert out <= values[name], f"{name} fails: m = {m}, split {seed}, class {label}"
        found = {name: max(found[name], values[name]) for name in found}
    found["anywhere"] = min(anywhere, default=np.nan)
    found["train error"] = np.mean(model.predict(X) != y)
    found["error"] = np.mean(model.predict(Z) != z)
    for name in MARGIN:
        found[name] = report[name].value
        found[f"{name} needs"] = report[name].samples_needed
        assert found["error"] <= found[name], f"{name} fails: m = {m}, split {seed}"
    return found


def table(sizes, results):
    """Print the means over the splits as a Markdown table."""
    columns = ("in", "out", *VANISHING, "train error", "error", *MARGIN)
    header = ("m", "mse in", "mse out", *VANISHING, "error in", "error out", *MARGIN)
    print("| " + " | ".join(header) + " |")
    print("| " + " | ".join(["---"] * len(header)) + " |")
    for m, splits in zip(sizes, results, strict=True):
        cells = [f"{np.mean([s[name] for s in splits]):.2g}" for name in columns]
        print(f"| {m:,} | " + " | ".join(cells) + " |")


def picture(sizes, results, path):
    """Draw means over the splits against the number of rows, shaded from least to largest."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def curve(axes, name, label, color, style, **options):
        values = np.array([[s[name] for s in splits] for splits in results])
        axes.plot(sizes, values.mean(axis=1), style, color=color, label=label, **options)
        axes.fill_between(
            sizes, values.min(axis=1), values.max(axis=1), color=color, alpha=0.2, lw=0
        )

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
    curve(left, "vanishing, tau afterwards", "Theorem 6.3, tau afterwards", "#d95f02", "--")
    curve(left, "vanishing", "Theorem 6.3, tau and k in advance", "#d95f02", "-")
    curve(left, "vanishing, by moments", "by moments", "#1b9e77", "-")
    curve(left, "anywhere", "informative below: least $\\|g\\|_1^2$", "#888888", ":")
    curve(left, "out", "measured on new rows", "#222222", "o", ms=7, mfc="none")
    curve(left, "in", "measured in sample", "#7570b3", "x", ms=6)
    left.set(title="mean square of the worst generator", ylabel="mean square", ylim=(2e-3, 2e2))
    curve(right, "margin", "Theorem 6.7", "#d95f02", "-")
    curve(right, "margin, by degree", "Theorem 6.7, terms counted by degree", "#1b9e77", "-")
    right.axhline(1.0, color="#888888", ls=":", label="informative below: 1")
    curve(right, "error", "measured on new rows", "#222222", "o", ms=7, mfc="none")
    curve(right, "train error", "measured in sample", "#7570b3", "x", ms=6)
    right.set(title="error of the classifier", ylabel="error", ylim=(1e-3, 6))
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="rows m, both classes together")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncol=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[100, 1000, 10_000, 100_000, 1_000_000]
    )
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--psi", type=float, default=0.005)
    parser.add_argument("--tau", type=float, default=3.0)
    parser.add_argument("--max-terms", type=int, default=5)
    parser.add_argument("--max-degree", type=int, default=2)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--picture", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # that O reaches max_terms is what it is bounded for
    results = [[split(m, seed, options) for seed in range(options.splits)] for m in options.sizes]
    table(options.sizes, results)
    print("\nRows from which on each bound is informative, of a class or (margin) of both:\n")
    for name in (*VANISHING, *MARGIN):
        print(f"- {name}: {np.median([s[f'{name} needs'] for s in results[-1]]):,.0f}")
    print(f"\nAll bounds hold on all {len(options.sizes) * options.splits} splits.")
    if options.picture is not None:
        picture(options.sizes, results, options.picture)


if __name__ == "__main__":
    main()
