"""Write the results page and the README's table from a folder of `vanishing reproduce`.

    python docs/make_results.py FOLDER

Copies tables, runs and figure to docs/results/, puts what the page shows of them into
docs/results.md in the place of its markers, and the headline table into README.md. Experiments
that the folder does not hold stay as they are.
"""

import csv
import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"
# Which tables of an experiment the page shows; the others are in docs/results/ alone.
SHOWN = {
    "performance": ("Error", "Tuning time", "\\|G\\| + \\|O\\|"),
    "borders": ("Error", "\\|G\\| + \\|O\\|"),
    "beyond": ("Error", "Tuning time"),
}
WHOLE = ("exact", "exact-search", "scale")


def between(text: str, marker: str, content: str) -> str:
    """Return the text with the content between the two comments of a marker."""
    start, stop = f"<!-- {marker} -->", f"<!-- end of {marker} -->"
    if start not in text or stop not in text:
        raise SystemExit(f"There is no place for {marker}: the markers are missing.")
    pattern = re.escape(start) + ".*?" + re.escape(stop)
    return re.sub(pattern, lambda _: f"{start}\n\n{content}\n\n{stop}", text, flags=re.DOTALL)


def below_heading(path: Path) -> str:
    """Return what a Markdown file holds below its heading, without how it was made."""
    text = path.read_text(encoding="utf-8").partition("\n")[2]
    return text.partition("\nCommand: ")[0].strip()


def tables(text: str, metrics: tuple[str, ...]) -> str:
    """Return some tables of an experiment."""
    parts = text.split("\n\n")
    return "\n\n".join(p for p in parts if p.startswith(tuple(f"| {head}" for head in metrics)))


def headline(path: Path) -> str:
    """Return errors and times of the performance table, one line per data set."""
    figures = {}
    with path.open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            key = line.pop("metric"), line.pop("algorithm"), line.pop("statistic")
            figures |= {(*key, name): value for name, value in line.items()}
            names = list(line)

    def per_cent(value):
        return f"{value:.2f}"

    def two_digits(value):
        return f"{float(f'{value:.2g}'):g}"

    def show(metric, algorithm, name, write, unit=1.0):
        ours, paper = (figures[metric, algorithm, which, name] for which in ("mean", "paper"))
        shown = write(unit * float(ours))
        return f"{shown} ({write(unit * float(paper))})" if paper else shown

    lines = [
        "| data set | error %, PCGAVI\\* | error %, refitted | error %, kernel SVM "
        "| tuning s, PCGAVI\\* | tuning s, refitted | tuning s, kernel SVM | test ms, PCGAVI\\* |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    compared = ("PCGAVI*", "PCGAVI*, refitted", "SVM")
    for name in names:
        cells = [
            *(show("error", one, name, per_cent) for one in compared),
            *(show("tuning_s", one, name, two_digits) for one in compared),
            show("test_s", "PCGAVI*", name, two_digits, unit=1e3),
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(folder: Path) -> None:
    """Copy and fill in."""
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    (DOCS / "results").mkdir(exist_ok=True)
    for name in (*SHOWN, *WHOLE):
        if not (folder / f"{name}.md").exists():
            continue
        for path in folder.glob(f"{name}.*csv"):
            shutil.copyfile(path, DOCS / "results" / path.name)
        text = below_heading(folder / f"{name}.md")
        page = between(page, name, tables(text, SHOWN[name]) if name in SHOWN else text)
    for path in folder.glob("figure.*"):
        shutil.copyfile(path, DOCS / "results" / path.name)
    (DOCS / "results.md").write_text(page, encoding="utf-8")
    if (folder / "performance.csv").exists():
        text = README.read_text(encoding="utf-8")
        text = between(text, "headline", headline(folder / "performance.csv"))
        README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
