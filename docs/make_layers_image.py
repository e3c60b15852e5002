"""Make the picture of layers.md: ``python docs/make_layers_image.py`` writes docs/images.

From docs/results/cut_network.csv, which benchmarks/studies/cut_network.py writes.
"""

import csv
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

DOCS = Path(__file__).parent
# Okabe and Ito's colours, as in vanishing.plot.
COLOURS = {
    "network": "#5A5A5A",
    "linear": "#0072B2",
    "vanishing": "#D55E00",
    "vanishing, trained further": "#009E73",
}


def results():
    """Return the results by head: arrays of shape (n_cuts, n_splits) for each column."""
    with open(DOCS / "results" / "cut_network.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    cuts = sorted({int(line["cut"]) for line in lines})
    return {
        head: {
            key: np.array(
                [
                    [float(r[key]) for r in lines if (r["head"], int(r["cut"])) == (head, cut)]
                    for cut in cuts
                ]
            )
            for key in ("accuracy", "numbers")
        }
        for head in COLOURS
    }


def main():
    """Draw accuracy and numbers behind each cut."""
    mpl.use("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for i, (head, found) in enumerate(results().items()):
        accuracy, numbers = found["accuracy"], found["numbers"]
        cuts = np.arange(len(accuracy))
        error = accuracy.std(axis=1, ddof=1) / np.sqrt(accuracy.shape[1])
        left.errorbar(
            cuts + 0.06 * (i - 1.5),
            accuracy.mean(axis=1),
            error,
            color=COLOURS[head],
            marker="o",
            label=head,
            capsize=2,
        )
        if head != "vanishing, trained further":  # as many as before
            right.plot(cuts, numbers.mean(axis=1), color=COLOURS[head], marker="o")
    left.set(xlabel="cut after layer", ylabel="right on new rows [%]", xticks=cuts)
    right.set(xlabel="cut after layer", ylabel="numbers behind the cut", xticks=cuts, yscale="log")
    left.legend(frameon=False, fontsize=9)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(DOCS / "images" / "layers_cut.png", dpi=150)


if __name__ == "__main__":
    main()
