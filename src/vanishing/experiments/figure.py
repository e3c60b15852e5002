"""The paper's figure: the number of generators over psi, for both borders."""

import io

import numpy as np

from vanishing.experiments import protocol

# Colours that colour-blind people can tell apart: one per algorithm; dashes for the BB border.
_STYLES = {
    "pcgavi": ("PCGAVI, GB", "#0072b2", "-", "o"),
    "pcgavi-bb": ("PCGAVI, BB", "#0072b2", "--", "s"),
    "abm": ("ABM, GB", "#d55e00", "-", "o"),
    "abm-bb": ("ABM, BB", "#d55e00", "--", "s"),
}
_MORE = ("#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


def draw(experiment) -> bytes:
    """Return the picture of an `Experiment` of sizes, as PNG."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    sizes = experiment.sizes()
    names = experiment.datasets
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(5.0 * columns, 3.6 * rows + 0.5), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    psis = np.array(protocol.FIGURE_PSIS)
    for ax, name in zip(axes.flat, names, strict=False):
        for i, algorithm in enumerate(experiment.algorithms):
            counts = sizes[name, algorithm]
            label, colour, line, marker = _STYLES.get(
                algorithm,
                (experiment.algorithms[algorithm].label, _MORE[i % len(_MORE)], "-", "^"),
            )
            mean = counts.mean(axis=0)
            ax.plot(psis, mean, line, color=colour, marker=marker, markersize=4, label=label)
            if len(counts) > 1:
                std = counts.std(axis=0, ddof=1)
                low = np.maximum(mean - std, 0.5)  # a logarithmic axis has no zero
                ax.fill_between(psis, low, mean + std, color=colour, alpha=0.2, linewidth=0)
        ax.set(xscale="log", yscale="log", title=name, xlabel="psi", ylabel="|G|, all classes")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
        for axis in (ax.xaxis, ax.yaxis):  # 0.001 and 200 rather than powers of ten
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_minor_formatter(NullFormatter())
        ax.grid(which="major", alpha=0.3)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 * columns, frameon=False)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=130)
    return out.getvalue()
