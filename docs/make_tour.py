"""Make examples/tour.ipynb of examples/plot_tour.py, and run it: the notebook has what it printed.

python -m pip install -e ".[docs,app]" nbclient ipykernel && python docs/make_tour.py
"""

import re
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def cells(script):
    """Return ("markdown" or "code", source) of the cells of an example.

    The text of this example is plain enough to be Markdown as well: underlined headings and code in
    double backticks.
    """
    _, docstring, rest = script.split('"""', 2)
    found = [("markdown", docstring.strip())]
    for block in re.split(r"^# %%\n", rest, flags=re.M)[1:]:
        text = re.match(r"(?:#.*\n)*", block)[0]
        code = re.sub(r"^# sphinx_gallery_.*\n", "", block[len(text) :], flags=re.M)
        found.append(("markdown", re.sub(r"^# ?", "", text, flags=re.M).strip()))
        found.append(("code", code.strip()))
    return [(kind, source) for kind, source in found if source]


def main():
    """Make it, run it, write it."""
    import nbformat
    from nbclient import NotebookClient

    new = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    script = (EXAMPLES / "plot_tour.py").read_text(encoding="utf-8")
    notebook = nbformat.v4.new_notebook(
        # The same on every run, so that changes show what changed.
        cells=[new[kind](source, id=f"cell-{i}") for i, (kind, source) in enumerate(cells(script))],
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        },
    )
    NotebookClient(notebook, timeout=300, record_timing=False).execute()
    notebook.metadata.language_info = {"name": "python"}  # without the version that ran it
    nbformat.validate(notebook)
    (EXAMPLES / "tour.ipynb").write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
