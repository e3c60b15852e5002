"""Make the pictures of the three questions: ``python docs/make_front_images.py``.

They show what the code of README.md computes: it is run, and its variables are drawn.
"""

import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

DOCS = Path(__file__).parent
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#9a9a9a"


def computed():
    """Run the code of the README's first three questions and return its variables."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    names: dict = {}
    for code in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)[:3]:
        exec(compile(code, "README.md", "exec"), names)
    return names


def laws(names):
    """Draw pressure against temperature, and against what the law says."""
    gas, law = names["gas"], names["finder"].laws_[0]
    fig, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(7.2, 2.9))
    p = gas["p"] / 1000
    left.plot(gas["T"], p, ".", color=GREY, ms=4, mec="none")
    left.set(xlabel="T / K", ylabel="p / kPa", title="What was measured")
    right.plot(law.predict(gas[["n", "T", "V"]]) / 1000, p, ".", color=BLUE, ms=4, mec="none")
    right.set(xlabel="8.316 n T / V / kPa", title="What was found: " + f"${law.to_latex()}$")
    return fig


def outliers(names):
    """Draw head against flow, and how far rows are off the law that one of them breaks."""
    pump, row, law = names["pump"], names["row"], names["detector"].laws_[0].solve("power")
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 2.9))
    left.plot(pump["flow"], pump["head"], ".", color=GREY, ms=4, mec="none")
    left.plot(*pump.loc[row, ["flow", "head"]], "o", color=ORANGE)
    left.set(xlabel="flow", ylabel="head", title=f"Row {row} looks like any other")
    off = 100 * (pump["power"] / law.predict(pump) - 1)
    right.plot(off, ".", color=GREY, ms=4, mec="none")
    right.plot(row, off[row], "o", color=ORANGE)
    right.set(xlabel="row", ylabel="off the law, %", title="but it breaks a law")
    return fig


def classes(names):
    """Draw area against width times height, with the equation of each class."""
    parts, kind = names["parts"], names["kind"]
    fig, ax = plt.subplots(figsize=(7.2, 3.2))
    product = parts["width"] * parts["height"]
    line = np.array([0.0, product.max()])
    shares = {"rectangle": 1.0, "ellipse": np.pi / 4, "triangle": 0.5}
    for (name, share), colour in zip(shares.items(), (BLUE, ORANGE, GREEN), strict=True):
        here = kind == name
        ax.plot(product[here], parts["area"][here], ".", color=colour, mec="none", label=name)
        ax.plot(line, share * line, color=colour, lw=0.8)
    ax.set(xlabel="width times height", ylabel="area", title="Each class has its own equation")
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
            "savefig.dpi": 150,
            "font.size": 11,
            "axes.titlesize": 11,
        }
    )
    names = computed()
    for make in (laws, outliers, classes):
        fig = make(names)
        fig.savefig(DOCS / "images" / f"front_{make.__name__}.png")
        plt.close(fig)


if __name__ == "__main__":
    main()
