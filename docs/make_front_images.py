"""Make the pictures beside code: ``python docs/make_front_images.py`` writes docs/images.

They show what the code of README.md and of some pages computes: it is run, and its variables are
drawn.
"""

import os
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

DOCS = Path(__file__).resolve().parent
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#9a9a9a"


def computed(page, n_blocks):
    """Run the first blocks of code of a page, in docs, and return its variables."""
    text = (DOCS / page).read_text(encoding="utf-8")
    names: dict = {}
    for code in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)[:n_blocks]:
        exec(compile(code, page, "exec"), names)
    return names


def laws(names):
    """Draw pressure against temperature, and against what the law says."""
    gas, law = names["gas"], names["finder"].laws_[0]
    fig, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(7.2, 3.2))
    p = gas["p"] / 1000
    left.plot(gas["T"], p, ".", color=GREY, ms=4, mec="none")
    left.set(xlabel="T, in K", ylabel="p, in kPa", title="What was measured:\nn, T, V and p")
    right.plot(law.predict(gas[["n", "T", "V"]]) / 1000, p, ".", color=BLUE, ms=4, mec="none")
    right.set(xlabel="8.316 n T / V, in kPa", title=f"What was found:\n{law}")
    return fig


def outliers(names):
    """Draw head against flow, and how far rows are off the law that one of them breaks."""
    pump, row, law = names["pump"], names["row"], names["detector"].laws_[0].solve("power")
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.2))
    left.plot(pump["flow"], pump["head"], ".", color=GREY, ms=4, mec="none")
    left.plot(*pump.loc[row, ["flow", "head"]], "o", color=ORANGE)
    left.set(xlabel="flow", ylabel="head", title=f"Row {row} looks like any other")
    off = 100 * (pump["power"] / law.predict(pump) - 1)
    right.plot(off, ".", color=GREY, ms=4, mec="none")
    right.plot(row, off[row], "o", color=ORANGE)
    right.set(xlabel="row", ylabel="power is off by, in %", title="but it breaks a law")
    return fig


def classes(names):
    """Draw area against width times height, with the equation of each class."""
    parts, kind = names["parts"], names["kind"]
    fig, ax = plt.subplots(figsize=(7.2, 3.4))
    product = parts["width"] * parts["height"]
    line = np.array([0.0, product.max()])
    shares = {"rectangle": 1.0, "ellipse": np.pi / 4, "triangle": 0.5}
    for (name, share), colour in zip(shares.items(), (BLUE, ORANGE, GREEN), strict=True):
        here = kind == name
        ax.plot(product[here], parts["area"][here], ".", color=colour, ms=7, mec="none", label=name)
        ax.plot(line, share * line, color=colour, lw=0.8)
    ax.set(xlabel="width times height", ylabel="area", title="Each class has its own equation")
    ax.legend(frameon=False, handletextpad=0.1)
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
            "font.size": 13,
            "axes.titlesize": 13,
        }
    )
    os.chdir(DOCS)  # where the tables are
    names = computed("../README.md", 3)
    drawn = {f"front_{make.__name__}": make(names) for make in (laws, outliers, classes)}
    drawn["choosing_psi"] = computed("choosing_psi.md", 2)["display"].figure_
    drawn["tutorial_outliers"] = computed("tutorial_outliers.md", 3)["display"].figure_
    with TemporaryDirectory() as folder:  # the page makes a table of new parts in a terminal
        shutil.copy("parts.csv", folder)
        os.chdir(folder)
        Path("new.csv").write_text("width,height,area\n50,40,1580\n")
        drawn["tutorial_classes"] = computed("tutorial_classes.md", 3)["fig"]
    for name, fig in drawn.items():
        fig.savefig(DOCS / "images" / f"{name}.png")


if __name__ == "__main__":
    main()
