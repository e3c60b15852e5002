"""Make the pictures of curves: ``python docs/make_curve_images.py`` writes docs/images.

One picture has all forms, each with a table of its own and what was found in it. The others show
what the code of curves.md computes: it is run, and its variables are drawn.
"""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from make_front_images import BLUE, DOCS, GREY, ORANGE, computed

from vanishing import LawFinder, check_law
from vanishing.equations.forms import FORMS

# Of each form the range of x, and constants, in the order in which they occur.
TABLES = {
    "exponential decay": ((0, 10), 2.4, 0.35),
    "exponential growth": ((0, 5), 0.6, 0.55),
    "exponential approach to a level": ((0, 12), 1.5, 3.0, 0.4),
    "exponential growth above a level": ((0, 6), 4.0, 0.3, 0.7),
    "doubling above a level": ((0, 7), 4.0, 0.3),
    "saturating exponential": ((0, 10), 5.0, 0.4),
    "sum of two exponentials": ((0, 12), 4.0, 1.8, 2.0, 0.15),
    "Michaelis-Menten saturation": ((0.1, 10), 5.0, 1.3),
    "Michaelis-Menten saturation above a level": ((0.05, 25), 2.0, 5.0, 2.0),
    "Hill equation": ((0.1, 10), 5.0, 2.6, 3.1),
    "Hill equation above a level": ((0.1, 12), 0.8, 3.0, 3.4, 3.3),
    "logistic growth": ((0, 20), 7.0, 0.6, 9.0),
    "Gompertz growth": ((0, 20), 7.0, 0.35, 6.0),
    "tanh step": ((-5, 5), 1.2, 2.0, 0.7, 1.3),
    "tanh saturation": ((0, 8), 20.0, 0.37),
    "arctan step": ((-8, 8), 1.2, 2.0, -1.0, 0.9),
    "Gaussian peak": ((-5, 5), 4.0, 0.6, 1.2),
    "Gaussian peak above a level": ((400, 700), 9.0, 60.0, 540.0, 30.0),
    "Lorentzian peak": ((0, 10), 4.0, 5.6, 1.1),
    "Lorentzian peak above a level": ((0, 10), 0.9, 4.0, 4.2, 0.9),
    "power law": ((0.5, 20), 2.4, 0.73),
    "power law above a level": ((0.2, 12), 5.0, 1.1, 1.37),
    "power law with a cutoff": ((0.2, 9), 2.0, 1.3, 0.6),
    "logarithm": ((0, 20), 2.5, 1.4),
    "logarithmic law": ((0.5, 60), 15.5, -2.1),
    "logarithmic law with a trend": ((0.1, 12), 3.0, 1.5, -0.7),
    "logarithm above a level": ((1, 30), 3.0, 2.0, -0.8),
    "Arrhenius law": ((250, 700), 8e4, 2600.0),
    "Arrhenius law with a power": ((100, 1500), 0.05, 1.4, 700.0),
    "oscillation": ((0, 8), 2.0, 3.7, -1.1),
    "oscillation about a level": ((0, 8), 3.0, 2.0, 2.3, 2.0),
    "damped oscillation": ((0, 12), 3.0, 0.15, 2.9, 0.8),
    "stretched exponential": ((0.05, 20), 3.0, 4.0, 0.6),
    "Weibull growth": ((0.1, 15), 9.0, 5.0, 2.1),
    "Planck's law": ((0.1, 12), 0.9, 1.1),
    "Lennard-Jones potential": ((3.4, 8), 1.3, 3.3),
    "Morse potential": ((0.9, 6), 3.0, 1.1, 1.5),
    "hyperbola": ((-4, 6), 3.0, 0.8),
    "line with a break": ((0, 10), 1.0, 0.8, 0.6, 4.3),
}


def forms():
    """Draw a table of each form, and the curve that was found in it."""
    fig, axes = plt.subplots(8, 5, figsize=(11.5, 15))
    for ax in axes.flat[len(TABLES) :]:
        ax.set_axis_off()
    for ax, (name, ((low, high), *constants)) in zip(axes.flat, TABLES.items(), strict=False):
        rng = np.random.default_rng(0)
        x = rng.uniform(low, high, 150)
        x = np.round(x) if FORMS[name].counts else x
        y = FORMS[name].value.value([x, *map(np.asarray, constants)])
        y = y + 0.01 * np.sqrt(np.mean(y**2)) * rng.normal(size=150)
        finder = LawFinder().fit(x[:, np.newaxis], y)
        found = name.lower() in finder.verdict_.lower()
        print(f"{name}: {'' if found else 'NOT FOUND '}{finder.verdict_}")
        line = np.linspace(low, high, 300)
        ax.plot(x, y, ".", color=GREY, ms=4, mec="none")
        ax.plot(line, finder.predict(line[:, np.newaxis]), color=BLUE, lw=1.5)
        ax.set_title(name.replace(" above", "\nabove").replace(" approach", "\napproach"))
        ax.set(xticks=[], yticks=[])
    return fig


def neighbours(names):
    """Draw a dose-response curve with three forms, and what each leaves."""
    x, y = names["doses"]["dose"].to_numpy(), names["response"].to_numpy()
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
    left.semilogx(x, y, "o", color=GREY, ms=4, mec="none")
    right.axhline(0.0, color=GREY, lw=0.8)
    curves = {
        "Hill": ("V*x0^n/(K^n + x0^n)", BLUE),
        "Weibull": ("A*(1 - exp(-(x0/T)^b))", ORANGE),
        "Michaelis-Menten": ("V*x0/(K + x0)", "#009E73"),
    }
    for name, (text, colour) in curves.items():
        law = check_law(f"y = {text}", x[:, np.newaxis], y)
        left.semilogx(x, law.predict(x[:, np.newaxis]), color=colour, label=name)
        left_over = y - law.predict(x[:, np.newaxis])
        right.semilogx(x, left_over, ".-", color=colour, lw=0.8)
    left.set(xlabel="dose", ylabel="response", title="Three curves for a response")
    right.set(xlabel="dose", title="what each of them leaves")
    left.legend(frameon=False)
    return fig


def alike(names):
    """Draw forms that agree where the rows are."""
    x, y = names["x"], names["y"]
    fig, ax = plt.subplots(figsize=(6.5, 3.6))
    line = np.linspace(0.05, 20.0, 400)[:, np.newaxis]
    ax.axvspan(x.min(), x.max(), color="#eeeeee")
    texts = ("V*x0^n/(K^n + x0^n)", "A*(1 - exp(-(x0/T)^b))", "A*exp(-E/x0)")
    for text, colour in zip(texts, (BLUE, ORANGE, "#009E73"), strict=True):
        law = check_law(f"y = {text}", x, y)
        ax.plot(line, law.predict(line), color=colour, label=text.replace("x0", "x"))
    ax.plot(x, y, ".", color="black", ms=4, mec="none")
    ax.set(xlabel="x", ylabel="y", title="They agree where the rows are")
    ax.legend(frameon=False)
    return fig


def main():
    """Write the pictures."""
    mpl.rcParams.update(
        {
            "axes.spines.right": False,
            "axes.spines.top": False,
            "figure.constrained_layout.use": True,
            "figure.dpi": 100,
            "savefig.dpi": 110,
            "font.size": 11,
            "axes.titlesize": 10.5,
        }
    )
    names = computed("curves.md", 4)
    drawn = {"forms": forms(), "neighbours": neighbours(names), "alike": alike(names)}
    for name, fig in drawn.items():
        fig.savefig(DOCS / "images" / f"curves_{name}.png")


if __name__ == "__main__":
    main()
