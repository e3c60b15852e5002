"""HTML of verdicts, laws, quantities and equations of motion, as notebooks show them."""

from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from vanishing.algebra.markup import number, text
from vanishing.inspection.laws import law_anatomy
from vanishing.inspection.outliers import laws_of
from vanishing.inspection.settings import CHARACTERS, DIGITS, EQUATIONS
from vanishing.laws.finder import LawFinder
from vanishing.laws.front import front_rows
from vanishing.motion.conserved import ConservedQuantities
from vanishing.motion.equations_of_motion import EquationsOfMotion
from vanishing.outliers.detector import VanishingOutlierDetector

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
    answer = law_anatomy(model)
    if not answer.laws:
        return _bold(answer.verdict) + _front(model)
    count = "1 law" if len(answer.laws) == 1 else f"{len(answer.laws)} laws"
    target = "" if answer.target is None else f" of {answer.target}"
    heads = ["equation", "rms error", "relative", "on rows held out", "evidence"]
    rows = [
        [
            ("" if law.group is None else f"{text(law.group)}: ") + law.to_mathml(),
            *(
                number(value, DIGITS)
                for value in (law.error, law.relative_error, law.held_out_error, law.evidence)
            ),
        ]
        for law in answer.laws
    ]
    verdict = _paragraph(answer.laws[0].verdict)  # the others are in the table
    return _bold(count + target) + table(heads, rows, 1) + verdict + _front(model)


def _front(model: LawFinder) -> str:
    """Return the equations that were compared, folded up."""
    rows = front_rows(model.front_, model.laws_)
    if not rows:
        return ""
    count = "1 equation was" if len(rows) == 1 else f"{len(rows)} equations were"
    heads = ["equation", "chosen", "terms", "rms error", "relative"]
    cells = [
        [
            text(row["equation"], CHARACTERS),
            "yes" if row["chosen"] else "",
            str(row["n_terms"]),
            number(row["error"], DIGITS),
            number(row["relative_error"], DIGITS),
        ]
        for row in rows
    ]
    return f"<details><summary>{count} compared</summary>{table(heads, cells, 2)}</details>"


def _outliers(model: VanishingOutlierDetector) -> str:
    holding, lost = laws_of(model)
    facts = _paragraph(
        f"{model.n_samples_seen_:,} rows were learned from; outliers have a score below "
        f"{model.offset_:.3g}."
    )
    if not (holding or lost):
        sentence = "No law with few terms holds: rows are judged by how unusual they are."
        return _bold(sentence) + facts
    count = "1 law holds" if len(holding) == 1 else f"{len(holding) or 'No'} laws hold"
    count += f", {len(lost)} no longer" if lost else ""
    heads = ["law", "verdict", "rms error"]
    rows = [
        [law.to_mathml(), text(law.verdict), number(law.error, DIGITS)] for law in [*lost, *holding]
    ]
    more = "" if len(rows) <= EQUATIONS else _paragraph(f"The first {EQUATIONS} of {len(rows)}.")
    return _bold(count) + table(heads, rows[:EQUATIONS], 2) + more + facts


def _motion(model: ConservedQuantities) -> str:
    shown = _bold(model.verdict_)
    if model.quantities_:
        heads = ["quantity", "variance within runs over that of all rows"]
        rows = [[q.to_mathml(), number(q.ratio, DIGITS)] for q in model.quantities_]
        shown += table(heads, rows, 1)
    if model.constraints_:
        laws = [[law.to_mathml()] for law in model.constraints_]
        shown += table(["laws of the state, which hold on all rows"], laws, 1)
    return shown


def _equations_of_motion(model: EquationsOfMotion) -> str:
    shown = _bold(model.verdict_[:1].upper() + model.verdict_[1:])
    if not model.equations_:
        return shown
    heads = ["equation of motion", "explained", "evidence", "noise"]
    rows = [
        [
            ("" if equation.batch is None else f"{text(equation.batch)}: ") + equation.to_mathml(),
            f"{100 * equation.explained:.2f}%",
            number(equation.evidence, DIGITS),
            number(noise, DIGITS),
        ]
        for equation, noise in zip(model.equations_, cycle(model.noise_), strict=False)
    ]
    shown += table(heads, rows, 1)
    if model.held_out_.any():
        shown += _paragraph(f"Error on runs held out: {model.held_out_error_:.2f} times the noise.")
    return shown


_WRITERS: dict[type, Callable[[Any], str]] = {
    LawFinder: _laws,
    VanishingOutlierDetector: _outliers,
    ConservedQuantities: _motion,
    EquationsOfMotion: _equations_of_motion,
}
