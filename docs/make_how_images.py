"""Make the pictures of how_*.md: ``python docs/make_how_images.py`` writes docs/images."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import cumulative_trapezoid, solve_ivp
from scipy.interpolate import make_smoothing_spline

from vanishing import LawFinder, VanishingOutlierDetector

IMAGES = Path(__file__).parent / "images"
# Okabe and Ito's colours, as in vanishing.plot.
BLUE, RED, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#5A5A5A"
DOTS = {"s": 9, "alpha": 0.6, "linewidths": 0}


def panels():
    """Return a figure with two axes."""
    return plt.subplots(1, 2, figsize=(8, 3), layout="constrained")


def save(figure, name):
    """Write a picture."""
    figure.savefig(IMAGES / f"how_{name}.png", dpi=110)
    plt.close(figure)


# -- Laws -----------------------------------------------------------------------------------------


def products():
    """Draw a product of powers, and its logarithms."""
    random = np.random.default_rng(0)
    a, b = np.exp(random.uniform(np.log(0.1), np.log(10), (2, 150)))
    y = 2 * a**1.5 / b * (1 + 0.05 * random.normal(size=150))
    design = np.column_stack([np.ones(150), np.log(a), np.log(b)])
    fit = np.linalg.lstsq(design, np.log(y), rcond=None)[0]
    figure, (left, right) = panels()
    left.scatter(a, y, color=BLUE, **DOTS)
    left.set(xlabel="a", ylabel="y", title="y against one column")
    right.scatter(design @ fit, np.log(y), color=BLUE, **DOTS)
    ends = np.array([np.log(y).min(), np.log(y).max()])
    right.plot(ends, ends, color=RED)
    right.set(
        xlabel=f"{fit[0]:.2f} + {fit[1]:.2f} log a {fit[2]:.2f} log b",
        ylabel="log y",
        title="its logarithm is linear in logarithms",
    )
    save(figure, "laws_products")


def reductions():
    """Draw how a smooth function shows that it depends on a quotient alone."""
    random = np.random.default_rng(0)
    u = random.uniform(-0.7, 0.7, (800, 2))  # log a, log b
    y = 1 / (1 + np.exp(u[:, 0] - u[:, 1]) ** 2) + 0.003 * random.normal(size=800)
    powers = [(i, j) for i in range(6) for j in range(6 - i)]
    basis = np.column_stack([u[:, 0] ** i * u[:, 1] ** j for i, j in powers])
    coef = np.linalg.lstsq(basis, y, rcond=None)[0]
    a, b = u.T
    slopes = np.zeros((2, len(u)))
    for c, (i, j) in zip(coef, powers, strict=True):
        slopes[0] += c * i * a ** max(i - 1, 0) * b**j
        slopes[1] += c * j * a**i * b ** max(j - 1, 0)
    figure, (left, right) = panels()
    left.scatter(*slopes, color=BLUE, **DOTS)
    ends = np.array([slopes[0].min(), slopes[0].max()])
    left.plot(ends, -ends, color=RED)
    left.set(
        xlabel="change of y with log a", ylabel="with log b", title="slopes of the smooth function"
    )
    right.scatter(np.exp(u[:, 0] - u[:, 1]), y, color=BLUE, **DOTS)
    right.set(xlabel="a / b", ylabel="y", title="one variable is left")
    save(figure, "laws_reductions")


def front():
    """Draw the equations that a search compares, and what the right one leaves."""
    random = np.random.default_rng(0)
    T = pd.DataFrame(random.uniform(1, 3, (500, 3)), columns=["m", "h", "v"])
    noise = 0.3
    E = (T.m * (9.81 * T.h + T.v**2 / 2) + noise * random.normal(size=500)).rename("E")
    finder = LawFinder().fit(T, E)
    table = finder.front_table()
    figure, (left, right) = panels()
    chosen = table["chosen"].to_numpy(dtype=bool)
    left.scatter(table["n_terms"][~chosen], table["error"][~chosen], color=GREY, s=25)
    left.scatter(table["n_terms"][chosen], table["error"][chosen], color=RED, s=60, marker="D")
    left.axhline(noise, color=GREEN, linestyle="--")
    left.annotate("noise", (left.get_xlim()[1], noise), ha="right", va="bottom", color=GREEN)
    left.set(yscale="log", xlabel="terms", ylabel="rms error", title="equations that were compared")
    left.xaxis.get_major_locator().set_params(integer=True)
    design = np.column_stack([T.m * T.h, T.m, np.ones(500)])
    wrong = E - design @ np.linalg.lstsq(design, E, rcond=None)[0]
    right.scatter(T.v, wrong, color=GREY, label="without v²", **DOTS)
    right.scatter(T.v, E - finder.predict(T), color=RED, label="the law", **DOTS)
    right.set(xlabel="v", ylabel="measured minus predicted", title="what is left unexplained")
    right.legend(frameon=False)
    save(figure, "laws_choice")


# -- Outliers -------------------------------------------------------------------------------------


def pump(n_wrong, seed=0, n_rows=600):
    """Return readings of a pump of which some are wrong."""
    random = np.random.default_rng(seed)
    flow, head = random.uniform([[20], [10]], [[60], [40]], (2, n_rows))
    rows = pd.DataFrame({"flow": flow, "head": head, "power": 0.0034 * flow * head})
    rows *= 1 + 0.01 * random.normal(size=rows.shape)
    rows.loc[: n_wrong - 1, "power"] *= 1.3
    return rows


def prediction():
    """Draw a column, and what the others say of it."""
    rows = pump(12)
    wrong = np.arange(len(rows)) < 12
    (law,) = VanishingOutlierDetector().fit(rows).laws_
    said = law.solve("power").predict(rows[["flow", "head", "power"]])
    figure, (left, right) = panels()
    for ax, x, label in ((left, rows.flow, "flow"), (right, said, "power, by flow and head")):
        ax.scatter(x[~wrong], rows.power[~wrong], color=BLUE, **DOTS)
        ax.scatter(x[wrong], rows.power[wrong], color=RED, s=25)
        ax.set(xlabel=label, ylabel="power")
    left.set_title("no reading is odd by itself")
    right.set_title("beside its prediction, some are")
    save(figure, "outliers_prediction")


def weights():
    """Draw how wrong rows move moments of all rows, and hardly those of weighted ones."""
    rows = pump(30)
    product, power = rows.flow * rows["head"], rows.power
    plain = float(product @ power / (product @ product))
    (law,) = VanishingOutlierDetector().fit(rows).laws_
    ends = np.array([0.0, float(product.max())])
    robust = law.solve("power").predict(rows[["flow", "head", "power"]])
    slope = float(product @ robust / (product @ product))
    figure, (left, right) = panels()
    left.scatter(product, power, color=GREY, **DOTS)
    left.plot(ends, plain * ends, color=BLUE, label="all rows alike")
    left.plot(ends, slope * ends, color=RED, label="wild rows count little")
    left.legend(frameon=False)
    left.set(
        xlabel="flow x head",
        ylabel="power",
        title="5 % of the rows are wrong, all in one direction",
    )
    right.hist(power - plain * product, 40, color=BLUE, alpha=0.5)
    right.hist(power - slope * product, 40, color=RED, alpha=0.5)
    right.set(xlabel="measured minus predicted", ylabel="rows", title="residuals of both")
    save(figure, "outliers_weights")


def threshold():
    """Draw the scores of training rows and of fresh ones."""
    detector = VanishingOutlierDetector().fit(pump(0, 0, 2000))
    figure, (left, right) = panels()
    for ax, rows, title in (
        (left, pump(0, 1, 4000), "fresh normal rows"),
        (right, pump(400, 2, 4000), "fresh rows, a tenth wrong"),
    ):
        scores = np.maximum(detector.score_samples(rows), -20.0)
        ax.hist(scores, 80, color=BLUE)
        ax.axvline(detector.offset_, color=RED)
        ax.set(
            yscale="log",
            xlabel="score",
            ylabel="rows",
            title=f"{title}: {np.mean(scores < detector.offset_):.1%} alarms",
        )
    save(figure, "outliers_threshold")


# -- Motion ---------------------------------------------------------------------------------------

RATES = np.array([1.1, -0.4, 0.1, -0.4])


def slopes(_, x, rates=RATES):
    """Return how prey and predators change."""
    return [rates[0] * x[0] + rates[1] * x[0] * x[1], rates[2] * x[0] * x[1] + rates[3] * x[1]]


def run():
    """Return times, a clean path, and measured rows."""
    t = np.linspace(0.0, 20.0, 160)
    clean = solve_ivp(slopes, (0, 20), [10.0, 5.0], t_eval=t, rtol=1e-9, atol=1e-9).y
    noise = 0.05 * clean.std(axis=1, keepdims=True)
    return t, clean, clean + noise * np.random.default_rng(0).normal(size=clean.shape)


def smoothing():
    """Draw a smooth path, and slopes by differences and by the path."""
    t, clean, rows = run()
    path = make_smoothing_spline(t, rows[0])
    figure, (left, right) = panels()
    left.scatter(t, rows[0], color=GREY, **DOTS)
    left.plot(t, path(t), color=RED)
    left.set(xlabel="t", ylabel="prey", title="rows and a smooth path")
    right.scatter(t, np.gradient(rows[0], t), color=GREY, **DOTS)
    right.plot(t, path.derivative()(t), color=RED, label="of the path")
    right.plot(t, slopes(0, clean)[0], color=GREEN, linestyle="--", label="true")
    right.set(xlabel="t", ylabel="dx/dt", title="slopes are far noisier")
    right.legend(frameon=False)
    save(figure, "motion_smoothing")


def integrals():
    """Draw what stays the same along a run by the right equation, and by a wrong one."""
    t, _, rows = run()
    x, y = (make_smoothing_spline(t, column)(t) for column in rows)
    terms = [cumulative_trapezoid(term, t, initial=0.0) for term in (x, x * y)]
    figure, (left, right) = panels()
    for term, label in zip(terms, ("∫ x dt", "∫ x y dt"), strict=True):
        left.plot(t, term, label=label)
    left.legend(frameon=False)
    left.set(xlabel="t", title="integrals of terms along the path")
    right.plot(
        t, rows[0] - RATES[0] * terms[0] - RATES[1] * terms[1], color=RED, label="both terms"
    )
    best = float((rows[0] - rows[0, 0]) @ terms[0] / (terms[0] @ terms[0]))
    right.plot(t, rows[0] - best * terms[0], color=GREY, label="without x y")
    right.legend(frameon=False)
    right.set(
        xlabel="t", ylabel="x less its integrals", title="the right equation keeps it constant"
    )
    save(figure, "motion_integrals")


def shooting():
    """Draw integrated paths before and after they are fitted to the rows."""
    t, _, rows = run()
    figure, (left, right) = panels()
    for ax, factor, title in (
        (left, 1.04, "4 % off: the path drifts away"),
        (right, 1.0, "fitted to the rows"),
    ):
        path = solve_ivp(
            lambda s, x, f=factor: slopes(s, x, f * RATES),
            (0, 20),
            [10.0, 5.0],
            t_eval=t,
            rtol=1e-8,
        ).y
        ax.scatter(t, rows[0], color=GREY, **DOTS)
        ax.plot(t, path[0], color=RED)
        ax.set(xlabel="t", ylabel="prey", title=title)
    save(figure, "motion_shooting")


def main():
    """Write all pictures."""
    with mpl.rc_context({"axes.titlesize": "medium", "font.size": 9}):
        for draw in (products, reductions, front, prediction, weights, threshold):
            draw()
        for draw in (smoothing, integrals, shooting):
            draw()


if __name__ == "__main__":
    main()
