"""Write the tables of the comparison page from the results of `benchmarks/studies/comparison.py`.

    python docs/make_comparison.py

Reads docs/results/comparison.csv, and puts tables into docs/comparison.md and benchmarks/README.md
in the place of their markers.
"""

import csv
from itertools import groupby
from pathlib import Path

from make_results import between

DOCS = Path(__file__).parent
RESULTS = DOCS / "results" / "comparison.csv"
PAGES = {"comparison": DOCS / "comparison.md", "shares": DOCS.parent / "benchmarks" / "README.md"}
SUITES = {"feynman": "Feynman formulas", "implicit": "Implicit laws"}


def read(path: Path = RESULTS) -> list[dict[str, str]]:
    """Return the lines of the summary."""
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def markdown(header: list[str], lines: list[list[str]]) -> str:
    """Return a table of Markdown with numbers on the right."""
    rule = ["---", *(["--:"] * (len(header) - 1))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, rule, *lines])


def whole(value: str) -> str:
    """Return a share without digits behind the point."""
    return f"{float(value):.0f}"


def comparison(summary: list[dict[str, str]]) -> str:
    """Return a table for each suite and noise level."""
    header = [
        "method", "found %", "wrong %", "none %", "accurate %",
        "median s", "mean s", "killed",
    ]  # fmt: skip
    parts = []
    for (suite, noise), group in groupby(summary, lambda one: (one["suite"], one["noise"])):
        members = list(group)
        lines = [
            [
                one["method"],
                *(whole(one[name]) for name in ("found", "wrong", "none", "accurate")),
                f"{float(one['median_s']):.1f}",
                f"{float(one['mean_s']):.1f}",
                one["timeouts"],
            ]
            for one in members
        ]
        title = f"**{SUITES[suite]}, noise {float(noise):g}** ({members[0]['tables']} tables)"
        parts.append(f"{title}\n\n{markdown(header, lines)}")
    return "\n\n".join(parts)


def shares(summary: list[dict[str, str]]) -> str:
    """Return one table of shares found."""
    kinds = list(dict.fromkeys((one["suite"], one["noise"]) for one in summary))
    figures = {(one["method"], one["suite"], one["noise"]): one for one in summary}
    header = ["found % (mean s)", *(f"{suite}, noise {float(noise):g}" for suite, noise in kinds)]
    lines = []
    for method in dict.fromkeys(one["method"] for one in summary):
        cells = [figures[(method, *kind)] for kind in kinds]
        lines.append(
            [method, *(f"{whole(one['found'])} ({float(one['mean_s']):.1f})" for one in cells)]
        )
    return markdown(header, lines)


def pages() -> dict[Path, str]:
    """Return what the pages are to be."""
    summary = read()
    content = {"comparison": comparison(summary), "shares": shares(summary)}
    return {
        path: between(path.read_text(encoding="utf-8"), marker, content[marker])
        for marker, path in PAGES.items()
    }


def main() -> None:
    """Fill in."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
