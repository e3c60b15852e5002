"""HTML of verdicts, laws and conserved quantities, as notebooks show them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from vanishing.algebra.markup import number, text
from vanishing.inspection.laws import law_anatomy
from vanishing.laws.finder import LawFinder
from vanishing.laws.front import front_rows
from vanishing.motion.conserved import ConservedQuantities
from vanishing.outliers.detector import VanishingOutlierDetector
from vanishing.outliers.drift import NO_LONGER

_SHOWN = 10  # equations of a table
_DIGITS = 4
_CHARACTERS = 300  # of an equation that was compared

STYLE = """<style>
.vanishing-equations { margin: .5em 0; font-size: .95em; }
.vanishing-equations table { border-collapse: collapse; margin: .4em 0; }
.vanishing-equations :is(td, th) { padding: .2em .8em .2em 0; text-align: left !important;
  vertical-align: baseline; }
.vanishing-equations .term { white-space: nowrap; }
.vanishing-equations .number { text-align: right !important; white-space: nowrap; }
.vanishing-equations p { margin: .4em 0; max-width: 60em; }
.vanishing-equations math { font-size: 1.1em; }
</style>"""


def verdict_html(model) -> str | None:
    """Return what a model found, in words and equations; "" if it is not fitted.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    html : str or None
        None of an estimator that says no verdict.
    """
    for kind, write in _WRITERS.items():
        if isinstance(model, kind):
            try:
                check_is_fitted(model)
            except NotFittedError:
                return ""
            return f'<div class="vanishing-equations">{STYLE}{write(model)}</div>'
    return None


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int) -> str:
    """Return a table of HTML cells, of which the first ones of a row are text, not numbers."""
    kinds = [""] * n_texts + [' class="number"'] * (len(heads) - n_texts)
    head = "".join(
        f'<th scope="col"{kind}>{name}</th>' for kind, name in zip(kinds, heads, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _paragraph(words: str) -> str:
    return f"<p>{text(words)}</p>"


def _bold(words: str) -> str:
    return f"<p><strong>{text(words)}</strong></p>"


def _laws(model: LawFinder) -> str:
    found = law_anatomy(model)
    if not found.laws:
        return _bold(found.verdict) + _front(model)
    count = "1 law" if len(found.laws) == 1 else f"{len(found.laws)} laws"
    target = "" if found.target is None else f" of {found.target}"
    heads = ["equation", "rms error", "relative", "on rows held out", "evidence"]
    rows = [
        [
            law.to_mathml(),
            *(
                number(value, _DIGITS)
                for value in (law.error, law.relative_error, law.held_out_error, law.evidence)
            ),
        ]
        for law in found.laws
    ]
    # The laws stand in the table; what is said of them is said of the first.
    said = _paragraph(found.laws[0].verdict)
    return _bold(count + target) + table(heads, rows, 1) + said + _front(model)


def _front(model: LawFinder) -> str:
    """Return the equations that were compared, folded up."""
    rows = front_rows(model.front_, model.laws_)
    if not rows:
        return ""
    count = "1 equation was" if len(rows) == 1 else f"{len(rows)} equations were"
    heads = ["equation", "chosen", "terms", "rms error", "relative"]
    cells = [
        [
            text(row["equation"], _CHARACTERS),
            "yes" if row["chosen"] else "",
            str(row["n_terms"]),
            number(row["error"], _DIGITS),
            number(row["relative_error"], _DIGITS),
        ]
        for row in rows
    ]
    return f"<details><summary>{count} compared</summary>{table(heads, cells, 2)}</details>"


def _outliers(model: VanishingOutlierDetector) -> str:
    laws = model.laws_
    holding = [law for law in laws if not law.verdict.startswith(NO_LONGER)]
    lost = [law for law in laws if law.verdict.startswith(NO_LONGER)]
    seen = f"{model.n_samples_seen_:,} rows were learned from"
    limit = f"outliers have a score below {model.offset_:.3g}"
    if not laws:
        said = "No law with few terms among the columns: rows are judged by how unusual they are."
        return _bold(said) + _paragraph(f"{seen}; {limit}.")
    count = "1 law holds" if len(holding) == 1 else f"{len(holding) or 'No'} laws hold"
    count += f", {len(lost)} no longer" if lost else ""
    heads = ["law", "what is known of it", "rms error"]
    rows = [
        [law.to_mathml(), text(law.verdict), number(law.error, _DIGITS)]
        for law in [*lost, *holding]
    ]
    more = "" if len(rows) <= _SHOWN else _paragraph(f"The first {_SHOWN} of {len(rows)}.")
    return _bold(count) + table(heads, rows[:_SHOWN], 2) + more + _paragraph(f"{seen}; {limit}.")


def _motion(model: ConservedQuantities) -> str:
    shown = _bold(model.verdict_)
    if model.quantities_:
        heads = ["quantity", "variance within runs over that of all rows"]
        rows = [[one.to_mathml(), number(one.ratio, _DIGITS)] for one in model.quantities_]
        shown += table(heads, rows, 1)
    if model.constraints_:
        laws = [[law.to_mathml()] for law in model.constraints_]
        shown += table(["laws of the state, which hold on all rows"], laws, 1)
    return shown


_WRITERS: dict[type, Callable[[Any], str]] = {
    LawFinder: _laws,
    VanishingOutlierDetector: _outliers,
    ConservedQuantities: _motion,
}
