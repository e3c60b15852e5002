"""Make the pictures of the cookbook: ``python docs/make_cookbook_images.py`` writes docs/images.

Each shows what the code of a recipe computes: it is run, and its variables are drawn.
"""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np

from vanishing import LawFinder

DOCS = Path(__file__).resolve().parent
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#9a9a9a"
DOTS = {"ls": "", "marker": ".", "mec": "none"}


def recipes():
    """Yield the name of each recipe's picture, and its code."""
    text = (DOCS / "cookbook.md").read_text(encoding="utf-8")
    pattern = r"^```python\n(.*?)^```$.*?\(images/cookbook_(\w+)\.png\)"
    for code, name in re.findall(pattern, text, re.M | re.S):
        yield name, code


def panels(n, height=3.3):
    """Return a figure with n axes side by side."""
    return plt.subplots(1, n, figsize=(8.4 if n > 1 else 6.4, height), squeeze=False)


def compass(names):
    """Return the display that the recipe draws."""
    return plt.gcf()


def plant(names):
    """Draw the imbalance, and errors of the meters, before and after."""
    fig, ((left, right),) = panels(2)
    true, tables = names["true"], {"measured": names["meters"], "reconciled": names["plant"]}
    for k, (name, flows) in enumerate(tables.items()):
        imbalance = flows["feed"] - flows["top"] - flows["bottom"]
        colour = (GREY, BLUE)[k]
        left.plot(imbalance, color=colour, lw=(0.8, 2)[k], label=name)
        error = np.sqrt(((flows - true) ** 2).mean())
        right.bar(np.arange(len(error)) + 0.4 * k, error, 0.38, color=colour, label=name)
    left.set(xlabel="hour", ylabel="feed - top - bottom", title="The balance closes")
    right.set_xticks(np.arange(len(error)) + 0.2, list(error.index), rotation=20)
    right.set(ylabel="rms error", title="and every flow is better known")
    right.legend(frameon=False)
    return fig


def dosing(names):
    """Draw the dose against the product that it is proportional to."""
    fig, ((ax,),) = panels(1)
    jars, dose, batch = names["jars"], names["dose"], names["batch"]
    product = jars["flow"] * np.sqrt(jars["turbidity"])
    end = np.array([0.0, product.max()])
    colours = {"April": BLUE, "May": GREEN, "June": ORANGE}
    for law in names["finder"].laws_:
        here = batch == law.group
        ax.plot(product[here], dose[here], **DOTS, color=colours[law.group], label=law.group)
        slope = (law.predict(jars[here]) / product[here]).mean()
        ax.plot(end, slope * end, color=colours[law.group], lw=0.8)
    ax.set(xlabel="flow √turbidity", ylabel="dose", title="One form, two constants")
    ax.legend(frameon=False)
    return fig


def notes(names):
    """Draw weight against area, and weight over area."""
    fig, ((left, right),) = panels(2)
    notes, fake = names["notes"], names["fake"]
    area = notes["width"] * notes["height"]
    for here, colour, name in ((~fake, GREY, "good"), (fake, ORANGE, "counterfeit")):
        left.plot(notes["width"][here], notes["weight"][here], **DOTS, color=colour, label=name)
        right.plot((notes["weight"] / area * 1e5)[here], **DOTS, color=colour)
    left.set(xlabel="width, in mm", ylabel="weight, in g", title="Counterfeits look normal")
    left.legend(frameon=False, handletextpad=0.1)
    right.set(xlabel="note", ylabel="weight per area, in mg/cm²", title="but break the law")
    return fig


def track(names):
    """Draw heights against time, and the square of the speed against the height."""
    fig, ((left, right),) = panels(2)
    for clip, rows in names["inner"].groupby("clip"):
        colour = plt.get_cmap("viridis")(clip / 12)
        left.plot(rows["t"], rows["y"], **DOTS, ms=3, color=colour)
        right.plot(rows["y"], rows["v"] ** 2, **DOTS, ms=3, color=colour)
    left.set(xlabel="time, in s", ylabel="height y, in m", title="Twelve clips")
    right.set(xlabel="height y, in m", ylabel="v²", title="v² + 19.6 y is constant along each")
    return fig


def gaps(names):
    """Draw the power as it was logged and as it was filled."""
    fig, ((ax,),) = panels(1)
    hour, log, true, filled = (names[name] for name in ("hour", "log", "true", "filled"))
    shown = slice(40, 170)
    ax.plot(hour[shown], true["watts"][shown], color=GREY, lw=1, label="what was there")
    ax.plot(hour[shown], log["watts"].where(log["watts"] < 900)[shown], **DOTS, color=BLUE,
            label="logged")  # fmt: skip
    new = [cell.row for cell in names["repair"].report(log) if cell.column == "watts"]
    ax.plot(hour[new], filled["watts"][new], **DOTS, color=ORANGE, label="filled or restored")
    ax.set(xlabel="hour", ylabel="watts", title="Power, from volts and amps")
    ax.legend(frameon=False, ncols=3, loc="upper center")
    ax.set_ylim(top=1.15 * true["watts"][shown].max())
    return fig


def sheet(names):
    """Draw what each formula leaves over."""
    fig, ((left, right),) = panels(2)
    sheet = names["sheet"]
    left.plot(sheet["net"] - sheet["pieces"] * sheet["price"], **DOTS, color=BLUE)
    right.plot(sheet["gross"] - 1.19 * sheet["net"], **DOTS, color=BLUE)
    left.set(xlabel="row", ylabel="net - pieces price", title="A number typed over")
    right.set(xlabel="row", ylabel="gross - 1.19 net", title="A tax forgotten")
    return fig


def hill(names):
    """Return the display that the recipe draws."""
    fig = plt.gcf()
    fig.set_size_inches(6.4, 3.6)
    return fig


def alarm(names):
    """Draw the scores of rows before and during the drift."""
    fig, ((ax,),) = panels(1)
    decision = names["detector"].decision_function(names["pump"][1000:])
    rows = np.arange(1000, 1500)
    for raised, colour, name in ((decision >= 0, BLUE, "normal"), (decision < 0, ORANGE, "alarm")):
        ax.plot(rows[raised], decision[raised], **DOTS, color=colour, label=name)
    ax.axhline(0, color=GREY, lw=0.8)
    ax.axvline(1200, color=GREY, lw=0.8, ls="--")
    ax.annotate("drift begins", (1203, ax.get_ylim()[0]), color="0.4", va="bottom")
    ax.set(xlabel="row", ylabel="decision", title="Below zero the alarm is raised")
    ax.legend(frameon=False, handletextpad=0.1)
    return fig


def rules(names):
    """Draw the rows that the law holds for, and the one that was refused."""
    fig, ((ax,),) = panels(1)
    stock = names["stock"]
    ax.plot(stock["received"] - stock["sold"], stock["left"], **DOTS, color=BLUE, label="accepted")
    ax.plot(18, 81, "o", color=ORANGE, label="refused")
    ax.set(xlabel="received - sold", ylabel="left", title="left = received - sold")
    ax.legend(frameon=False, handletextpad=0.1)
    return fig


def compare(names):
    """Draw both curves, and what they leave over."""
    fig, ((left, right),) = panels(2)
    cart = names["cart"].sort_values("v")
    left.plot(cart["v"], cart["force"], **DOTS, color=GREY)
    for (name, equation), colour in zip(names["equations"].items(), (BLUE, ORANGE), strict=True):
        fitted = names["check_law"](equation, cart).predict(cart)
        left.plot(cart["v"], fitted, color=colour, lw=1, label=name)
        right.plot(cart["v"], cart["force"] - fitted, **DOTS, color=colour)
    right.axhline(0, color=GREY, lw=0.8)
    left.set(xlabel="v", ylabel="force", title="Both look right")
    left.legend(frameon=False)
    right.set(xlabel="v", ylabel="measured minus predicted", title="one of them bends")
    return fig


def big(names):
    """Draw the standard error of the constant against the number of rows."""
    fig, ((ax,),) = panels(1)
    X, y = next(names["days"]())
    counts, errors = [100, 1000, 10_000, 50_000], []
    for n in counts:
        errors.append(LawFinder(functions=()).fit(X[:n], y[:n]).laws_[0].coef_std[-1])
    counts.append(names["law"].n_samples)
    errors.append(names["law"].coef_std[-1])
    ax.loglog(counts, errors, "o-", color=BLUE, lw=0.8)
    ax.set(xlabel="rows", ylabel="standard error of 0.62", title="More rows, more digits")
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
            "font.size": 12,
            "axes.titlesize": 12,
        }
    )
    for name, code in recipes():
        names: dict = {}
        exec(compile(code, name, "exec"), names)
        fig = globals()[name](names)
        fig.savefig(DOCS / "images" / f"cookbook_{name}.png")
        plt.close("all")


if __name__ == "__main__":
    main()
