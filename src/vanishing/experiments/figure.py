"""The paper's figure: the number of generators and of terms over psi, for both borders."""

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
    """Return the picture of an `Experiment` of sizes, as PNG: |G| above, |O| below."""
    from matplotlib.figure import Figure

    names = experiment.datasets
    figure = Figure(figsize=(3.4 * len(names) + 0.6, 6.4), layout="constrained")
    axes = figure.subplots(2, len(names), squeeze=False)
    for row, (count, symbol) in zip(
        axes, [("n_generators", "|G|"), ("n_terms", "|O|")], strict=True
    ):
        sizes = experiment.sizes(count)
        for ax, name in zip(row, names, strict=True):
            _draw_counts(ax, {key: sizes[name, key] for key in experiment.algorithms}, experiment)
            ax.set(title=name, xlabel="psi", ylabel=f"{symbol}, all classes")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()


def _draw_counts(ax, counts: dict[str, np.ndarray], experiment) -> None:
    """Draw the mean and the standard deviation of each algorithm over psi."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    psis = np.array(protocol.FIGURE_PSIS)
    for i, (algorithm, rows) in enumerate(counts.items()):
        label, colour, line, marker = _STYLES.get(
            algorithm,
            (experiment.algorithms[algorithm].label, _MORE[i % len(_MORE)], "-", "^"),
        )
        mean = rows.mean(axis=0)
        ax.plot(psis, mean, line, color=colour, marker=marker, markersize=4, label=label)
        if len(rows) > 1:
            std = rows.std(axis=0, ddof=1)
            low = np.maximum(mean - std, 0.5)  # a logarithmic axis has no zero
            ax.fill_between(psis, low, mean + std, color=colour, alpha=0.2, linewidth=0)
    ax.set(xscale="log", yscale="log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    for axis in (ax.xaxis, ax.yaxis):  # 0.001 and 200 rather than powers of ten
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    ax.grid(which="major", alpha=0.3)
