"""Make the pictures of how_*.md: ``python docs/make_how_images.py`` writes docs/images."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.integrate import cumulative_trapezoid, solve_ivp
from scipy.interpolate import make_smoothing_spline

from vanishing import EquationsOfMotion, LawFinder, VanishingOutlierDetector, check_law

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


def terms():
    """Draw a sparse search: the error of fewer and fewer terms, and coefficients."""
    random = np.random.default_rng(0)
    x = random.uniform(1, 3, (200, 3))
    powers = [(i, j, k) for i in range(4) for j in range(4 - i) for k in range(4 - i - j)][1:]
    signs = ["", "{}", "{}²", "{}³"]
    names = ["".join(signs[e].format(c) for c, e in zip("abc", p, strict=True)) for p in powers]
    values = np.column_stack([np.prod(x**p, axis=1) for p in powers])
    y = 3 * x[:, 0] * x[:, 1] - 2 * x[:, 2] ** 2 + 0.1 * random.normal(size=200)

    def error(terms):
        A = values[:, terms]
        return np.std(y - A @ np.linalg.lstsq(A, y, rcond=None)[0])

    chosen = list(range(len(powers)))
    errors = {len(chosen): error(chosen)}
    while len(chosen) > 1:
        without = [[k for k in chosen if k != j] for j in chosen]
        shorter = min(without, key=error)
        if len(chosen) == 2:
            law = chosen
        chosen = shorter
        errors[len(chosen)] = error(chosen)
    figure, (left, right) = panels()
    left.plot(list(errors), list(errors.values()), color=GREY, marker="o", markersize=4)
    left.plot([2], [errors[2]], color=RED, marker="D")
    left.axhline(0.1, color=GREEN, linestyle="--")
    left.set(yscale="log", xlabel="terms", ylabel="rms error", title="one term less at a time")
    left.xaxis.get_major_locator().set_params(integer=True)
    left.annotate("noise", (19, 0.1), (0, 8), textcoords="offset points", ha="right", color=GREEN)
    full = np.linalg.lstsq(values, y, rcond=None)[0]
    few = np.zeros(len(powers))
    few[law] = np.linalg.lstsq(values[:, law], y, rcond=None)[0]
    places = np.arange(len(powers))
    right.bar(places - 0.2, full, 0.4, color=GREY, label="all terms")
    right.bar(places + 0.2, few, 0.4, color=RED, label="two terms")
    right.set_xticks(places, names, rotation=90, fontsize=7)
    right.set(ylabel="coefficient", title="the same fit, and the law")
    right.legend(frameon=False)
    save(figure, "laws_terms")


def errors():
    """Draw constants of repeated experiments, and what the standard errors of one promise."""
    random = np.random.default_rng(0)
    x = random.uniform(1, 3, (100, 1))
    figure, axes = panels()
    noises = ("noise of one size", 0.1 + 0 * x[:, 0]), ("noise that grows", 0.02 * x[:, 0] ** 3)
    for ax, (title, noise) in zip(axes, noises, strict=True):
        found, stds = [], []
        for _ in range(300):
            y = 2 * x[:, 0] + noise * random.normal(size=100)
            law = check_law("y = k*x", pd.DataFrame(x, columns=["x"]), pd.Series(y, name="y"))
            found.append(law.constants["k"][0])
            stds.append(law.constants["k"][1])
        ax.hist(found, 30, density=True, color=BLUE, alpha=0.5)
        std = float(np.median(stds))
        at = np.linspace(2 - 4 * std, 2 + 4 * std, 200)
        normal = np.exp(-((at - 2) ** 2) / (2 * std**2)) / (std * np.sqrt(2 * np.pi))
        ax.plot(at, normal, color=RED)
        ax.set(xlabel="constant", ylabel="density", title=title)
    save(figure, "laws_errors")


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
    """Draw a column against another, and against its prediction."""
    rows = pump(12)
    wrong = np.arange(len(rows)) < 12
    (law,) = VanishingOutlierDetector().fit(rows).laws_
    expected = law.solve("power").predict(rows[["flow", "head", "power"]])
    figure, (left, right) = panels()
    for ax, x, label in ((left, rows.flow, "flow"), (right, expected, "power, by flow and head")):
        ax.scatter(x[~wrong], rows.power[~wrong], color=BLUE, **DOTS)
        ax.scatter(x[wrong], rows.power[wrong], color=RED, s=25)
        ax.set(xlabel=label, ylabel="power")
    left.set_title("no reading is odd by itself")
    right.set_title("compared with its prediction, some are")
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


def reasons():
    """Draw what is left of a row's score once each column takes the value expected of it."""
    clean = pump(0)
    clean["loss"] = 0.0004 * clean.flow**2 * (1 + 0.01 * np.random.default_rng(1).normal(size=600))
    detector = VanishingOutlierDetector().fit(clean)
    figure, axes = panels()
    for ax, column in zip(axes, ("flow", "head"), strict=True):
        row = clean.iloc[[100]].copy()
        row[column] *= 1.2
        left_over = [detector.score_samples(row)[0]]
        for name in clean.columns:
            tried = pd.concat([row] * 400, ignore_index=True)
            tried[name] = np.linspace(clean[name].min(), clean[name].max(), 400)
            left_over.append(detector.score_samples(tried).max())
        ax.bar(["as it is", *clean.columns], left_over, color=[GREY, *[BLUE] * 4])
        ax.axhline(detector.offset_, color=RED)
        ax.set(ylabel="best score if the column may move", title=f"{column} was misread")
    save(figure, "outliers_reasons")


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
        xlabel="t", ylabel="x minus its integrals", title="the right equation keeps it constant"
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


def selection():
    """Draw the effect of rates on the path, and the equations of a search."""
    t, clean, rows = run()
    figure, (left, right) = panels()
    for j, label in enumerate(("prey", "prey · predators")):
        rates = RATES.copy()
        rates[j] *= 1.01
        moved = solve_ivp(
            lambda s, x, r=rates: slopes(s, x, r), (0, 20), [10.0, 5.0], t_eval=t, rtol=1e-9
        ).y
        left.plot(t, moved[0] - clean[0], label=label)
    left.legend(frameon=False)
    left.set(xlabel="t", ylabel="change of prey", title="each rate by 1 % more")
    model = EquationsOfMotion().fit(pd.DataFrame(rows.T, columns=["prey", "predators"]), t)
    equations = {equation.target: equation for equation in model.equations_}
    labels, scores = zip(
        *(
            (f"{name}: {term.replace('*', ' · ')}", abs(coef / std))
            for name, equation in equations.items()
            for term, coef, std in zip(
                equation.terms, equation.coef, equation.coef_std, strict=True
            )
        ),
        strict=True,
    )
    right.barh(labels, scores, color=RED)
    right.set(xlabel="coefficient over its standard error", title="each term is needed")
    save(figure, "motion_selection")


def main():
    """Write all pictures."""
    with mpl.rc_context({"axes.titlesize": "medium", "font.size": 9}):
        for draw in (products, reductions, terms, front, errors):
            draw()
        for draw in (prediction, weights, threshold, reasons):
            draw()
        for draw in (smoothing, integrals, shooting, selection):
            draw()


if __name__ == "__main__":
    main()
