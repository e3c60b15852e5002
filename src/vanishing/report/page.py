"""The page of a report: facts in, one HTML document out.

Whatever comes from outside (names, labels, parameters, messages) passes `inspection.html.text`. As
a second line of defence the page forbids itself all scripts but its own, and all addresses.
"""

import base64
import hashlib
import json
import math
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

import numpy as np

import vanishing
from vanishing.algebra.markup import isolated, number, text
from vanishing.inspection.html import equation
from vanishing.report import charts
from vanishing.report.facts import QUANTILES, Facts
from vanishing.report.scene import COLUMNS, POINTS, scene_of

_SHOWN = (20, 80)  # equations before the reader asks for more: of a class, of all together
_TERMS = 12  # of an equation
_BOUNDS = 40
# Okabe and Ito's colours, which people with any kind of colour vision tell apart, without the
# yellow that white paper swallows; and lighter ones of the same hues for dark pages.
_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DARK = ("#4FA9DD", "#FF8B4A", "#2CC79B", "#E79BC5", "#F2B632", "#A5D8F7", "#E8E6E1")


def page_of(facts: Facts, *, title=None, data_name=None) -> str:
    """Return the document."""
    scene = scene_of(facts)
    if title is None:
        data = data_name if data_name is not None else f"{len(facts.X):,} rows"
        title = f"{type(facts.core).__name__} on {data}"
    sections = [
        ("errors", "Errors", _errors(facts)),
        ("equations", "Equations", _equations(facts)),
        ("picture", "Picture", _picture(facts, scene)),
        ("distances", "Distances", _distances(facts)),
        ("sizes", "Sparsity and sizes", _sizes(facts)),
        ("guarantees", "Guarantees", _guarantees(facts)),
        ("settings", "Settings", _settings(facts)),
        ("provenance", "Provenance", _provenance(facts, data_name)),
        ("reading", "How to read this page", _reading(facts)),
    ]
    sections = [section for section in sections if section[2]]
    links = "".join(f'<li><a href="#{name}">{head}</a></li>' for name, head, _ in sections)
    body = "".join(
        f'<section id="{name}" aria-labelledby="{name}-head"><h2 id="{name}-head">{head}</h2>'
        f"{content}</section>"
        for name, head, content in sections
    )
    script = _asset("report.js")
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{allowed}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    data_line = f"{len(facts.X):,} rows, {facts.X.shape[1]:,} columns"
    if data_name is not None:
        data_line = f"{isolated(data_name, 120)}: {data_line}"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            '<link rel="icon" href="data:,">',
            f"<title>{text(title, 200)}</title>",
            f"<style>\n{_colours(facts, scene)}{_asset('report.css')}</style>",
            "</head>",
            "<body>",
            '<a class="skip" href="#main">Skip to the content</a>',
            f'<header><h1>{isolated(title, 200)}</h1><p class="data">{data_line}; {_date()}</p>',
            _headline(facts),
            _tiles(facts),
            _caution(facts),
            f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>',
            f'<main id="main">{body}</main>',
            f"<footer><p>Written by vanishing {text(vanishing.__version__)}. This file needs no "
            "network and no other file.</p></footer>",
            _scene_data(scene),
            f"<script>{script}</script>",
            "</body>",
            "</html>\n",
        ]
    )


def _asset(name: str) -> str:
    return files("vanishing.report").joinpath(name).read_text(encoding="utf-8")


def _date() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _scene_data(scene) -> str:
    if scene is None:
        return ""
    # JSON in a script element ends at the first "</script", and nowhere if "<" is written so.
    content = json.dumps(scene, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        content = content.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="scene-data">{content}</script>'


def _colours(facts: Facts, scene) -> str:
    """Return the colours of classes, or of surfaces where there are none, as a style sheet."""
    count = len(facts.varieties)
    if count == 1 and scene is not None:
        count = len(scene["surfaces"])

    def sheet(palette, lightness):
        further = (f"hsl({137.5 * k % 360:.0f} 60% {lightness}%)" for k in range(7, count))
        chosen = [*palette[:count], *further]
        return "".join(f"--c{k}: {colour}; " for k, colour in enumerate(chosen))

    return (
        f":root {{ {sheet(_LIGHT, 42)}}}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {sheet(_DARK, 68)}}} }}\n"
        + "".join(f".c{k} {{ --c: var(--c{k}); }}\n" for k in range(count))
    )


def _percent(share: float) -> str:
    if math.isnan(share):
        return number(share)
    value = 100 * share
    shown = f"{value:.1f}" if value >= 1 or value == 0 else f"{value:.2g}"
    return f"{'0' if value == 0 else shown.removesuffix('.0')}%"


def _count(value: int, what: str) -> str:
    return f"{value:,} {what}{'' if value == 1 else 's'}"


def _quoted(label) -> str:
    return f"\u201c{isolated(label)}\u201d"


def _table(heads, rows, *, kind="", caption="") -> str:
    """Return a table; heads and cells are HTML, numbers where a head starts with '#'."""
    numeric = [head.startswith("#") for head in heads]
    head = "".join(
        f'<th scope="col"{" class=number" if n else ""}>{h.removeprefix("#")}</th>'
        for h, n in zip(heads, numeric, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{cell}</th>'
            if j == 0
            else f'<td class="{"number" if n else "wide"}" data-head="{h.removeprefix("#")}">'
            f"{cell}</td>"
            for j, (cell, h, n) in enumerate(zip(row, heads, numeric, strict=True))
        )
        + "</tr>"
        for row in rows
    )
    caption = f"<caption>{caption}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table class="{kind}">{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _pairs(pairs, kind="") -> str:
    return (
        f'<dl class="pairs {kind}">'
        + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in pairs)
        + "</dl>"
    )


# -- The first screen -------------------------------------------------------------------------


def _headline(facts: Facts) -> str:
    n_columns, total = facts.Z.shape[1], facts.n_generators
    name = text(type(facts.core).__name__)
    if not total:
        said = (
            f"This {name} found no equation that the rows of "
            f"{'any class' if facts.varieties[0].label is not None else 'the fit'} satisfy."
        )
        return f'<p class="headline">{said}</p>'
    if facts.classifier is not None:
        used = _count(total, "polynomial equation")
        if facts.coef is not None:
            used = f"{facts.n_used:,} of {used}"
        said = (
            f"This {name} tells {len(facts.varieties)} classes apart by the equations that each of "
            f"them satisfies up to noise: {used} in {_count(n_columns, 'column')} "
            f"{'decide' if facts.n_used != 1 else 'decides'}."
        )
        if facts.errors is not None:
            e = facts.errors
            said += (
                f" On the {_count(e.n_rows, 'row')} given it names the wrong class in "
                f"<strong>{_percent(e.rate)}</strong> of the cases; always naming the commonest, "
                f"{_quoted(facts.varieties[e.majority].label)}, would be wrong in "
                f"{_percent(e.baseline)}."
            )
            if e.rate >= e.baseline:
                said += " It is no better than that."
    else:
        degree = max(v.model.degree_ for v in facts.varieties)
        whom = "each class" if facts.varieties[0].label is not None else "the rows of the fit"
        said = (
            f"This {name} found {_count(total, 'polynomial equation')} of degree "
            f"{'up to ' if degree > 1 else ''}{degree} in {_count(n_columns, 'column')} that "
            f"{whom} {'satisfies' if whom == 'each class' else 'satisfy'} up to noise."
        )
    return f'<p class="headline">{said}{_first_equation(facts)}</p>'


def _first_equation(facts: Facts) -> str:
    """Return a sentence with the equation that counts most, if it is short."""
    found = [
        (e.influence, e.generator, v)
        for v in facts.varieties
        for e in v.equations
        if e.generator is not None
    ]
    if facts.coef is not None:
        found.sort(key=lambda one: -one[0])
    if not found or len(found[0][1].coef) > 6:
        return ""
    _, generator, variety = found[0]
    scaled = " in scaled columns" if facts.scaled else ""
    whose = "" if variety.label is None else f" of class {_quoted(variety.label)}"
    which = "most influential" if facts.coef is not None else "first"
    whose = f",{whose}," if whose else ""
    written = f'<span class="eq">{equation(generator)}</span>'
    return f" The {which} equation{whose} is {written}{scaled}."


def _tiles(facts: Facts) -> str:
    tiles = []
    if facts.errors is not None:
        e = facts.errors
        low, high = e.interval()
        tiles.append(
            (
                "error on these rows",
                _percent(e.rate),
                f"{e.n_wrong:,} of {e.n_rows:,} wrong; 95% interval {_percent(low)} to "
                f"{_percent(high)}, if the rows are new to the model",
            )
        )
        tiles.append(
            (
                "error of the commonest class",
                _percent(e.baseline),
                f"always {_quoted(facts.varieties[e.majority].label)}",
            )
        )
    if hasattr(facts.core, "best_score_") and facts.core.scoring is None:
        tiles.append(
            (
                "error in cross-validation",
                _percent(1.0 - facts.core.best_score_),
                f"mean over {facts.core.n_splits_} folds of the fit; the best of "
                f"{len(facts.core.cv_results_['params'])} settings, so a little too good",
            )
        )
    total = facts.n_generators
    used = total if facts.coef is None else facts.n_used
    more = f"of {total:,} found" if facts.coef is not None else ""
    what = "equations that decide" if facts.coef is not None else "equations"
    tiles.append((what, f"{used:,}", more or f"of {len(facts.varieties)} classes together"))
    if facts.varieties[0].label is None:
        measured = [e.measured for e in facts.varieties[0].equations]
        tiles[-1] = (what, f"{total:,}", f"degree up to {facts.varieties[0].model.degree_}")
        if measured:
            psi = number(facts.varieties[0].model.psi)
            tiles.append(
                (
                    "largest mean square here",
                    number(max(measured), 3),
                    f"psi, the largest allowed in the fit, is {psi}",
                )
            )
    tiles.append(
        (
            "sparsity",
            _percent(_sparsity(facts)),
            "of the non-leading coefficients are zero",
        )
    )
    return (
        '<dl class="tiles">'
        + "".join(
            f'<div><dt>{name}</dt><dd class="value">{value}</dd><dd class="more">{more}</dd></div>'
            for name, value, more in tiles
        )
        + "</dl>"
    )


def _sparsity(facts: Facts) -> float:
    holder = facts.classifier if facts.classifier is not None else facts.core
    return float(holder.sparsity_)


def _caution(facts: Facts) -> str:
    if facts.seen:
        kind, said = (
            "",
            "<strong>These are the rows of the fit:</strong> every equation listed has on them the "
            "mean square it had there. Errors and mean squares on this page say how well the model "
            "remembers, not how well it would do on new rows.",
        )
    elif facts.seen is None:
        kind, said = (
            "",
            "Whether the model has seen these rows in its fit cannot be told from them. If it has, "
            "this page says how well it remembers, not how well it would do on new rows.",
        )
    else:
        kind, said = (
            " fine",
            "These are not exactly the rows of the fit: the equations have other mean squares on "
            "them. Some may still be; only whoever made the model knows.",
        )
    return f'<p class="caution{kind}">{said}</p>'


# -- Errors -----------------------------------------------------------------------------------


def _errors(facts: Facts) -> str:
    e = facts.errors
    if e is None:
        return ""
    rows_of = e.confusion.sum(axis=1)
    named = e.confusion.sum(axis=0)
    right = np.diag(e.confusion)
    labels = [isolated(v.label) for v in facts.varieties]
    head = "".join(f'<th scope="col">{label}</th>' for label in labels)
    body = ""
    for k, (label, row) in enumerate(zip(labels, e.confusion, strict=True)):
        cells = "".join(
            f'<td style="--share:{_shade(count, rows_of[k])}%'
            f'{"" if j == k else ";--heat:var(--bad)"}">{count:,}</td>'
            for j, count in enumerate(row)
        )
        body += f'<tr><th scope="row"><i class="swatch c{k}"></i> {label}</th>{cells}</tr>'
    by_class = [
        (
            f'<i class="swatch c{k}"></i> {label}',
            f"{rows_of[k]:,}",
            _percent(1.0 - right[k] / rows_of[k] if rows_of[k] else math.nan),
            f"{named[k]:,}",
            _percent(1.0 - right[k] / named[k] if named[k] else math.nan),
        )
        for k, label in enumerate(labels)
    ]
    across = (
        '<div class="scroll"><table class="narrow confusion">'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    heads = ["class", "#rows", "#of these, wrong", "#named so", "#of these, wrong"]
    return (
        "<p>Rows by their class (down) and by the class that the model names (across), and what "
        "that means class by class.</p>"
        f'<div class="beside">{across}{_table(heads, by_class, kind="narrow")}</div>'
    )


def _shade(count: int, total: int) -> int:
    """Return how strongly a cell is coloured: single errors should be seen, too."""
    return 12 + round(50 * count / total) if count else 0


# -- Equations --------------------------------------------------------------------------------


def _equations(facts: Facts) -> str:
    if not facts.n_generators:
        return "<p>There are none: nothing vanishes up to psi within the degrees tried.</p>"
    parts = [_ranking(facts)]
    both = facts.scaled and facts.units is not None
    if both:
        parts.append(
            '<fieldset class="units"><legend>Write them in</legend>'
            '<label><input type="radio" name="units" id="units-scaled" checked> scaled columns'
            "</label>"
            '<label><input type="radio" name="units" id="units-original"> the columns as given'
            "</label></fieldset>"
            '<p class="note">Scaled columns are what the model computes with; coefficients are '
            "rounded to four digits. In the columns as given it is the same function, with more "
            "digits where large terms nearly cancel.</p>"
        )
    elif facts.scaled:
        parts.append(
            '<p class="note">In scaled columns, which the model computes with. The scaling is not '
            "a change of units of each column, so that in the columns as given these are no "
            "polynomials.</p>"
        )
    else:
        parts.append('<p class="note">Coefficients are rounded to four digits.</p>')
    total = sum(v.influence for v in facts.varieties if not math.isnan(v.influence))
    for k, variety in enumerate(facts.varieties):
        parts.append(_class_table(facts, k, variety, total, both))
    return "".join(parts)


def _ranking(facts: Facts) -> str:
    if facts.coef is not None:
        summed = "" if len(facts.coef) == 1 else ", summed over the scores of the classes"
        said = (
            "By <strong>influence</strong>: |weight| \u00d7 mean of |g| over the rows given"
            f"{summed}, that is, by how much an equation moves the decision value on average; as a "
            "share of all equations together."
        )
        if len(facts.coef) == 1:
            for_first, for_second = (isolated(v.label) for v in facts.varieties)
            said += (
                f" A large |g| speaks for {for_second} where the weight is positive, for "
                f"{for_first} where it is negative."
            )
    elif facts.y is not None:
        said = (
            "By <strong>contrast</strong>: how many times larger |g| is on the other classes than "
            "on its own, in the mean over the rows given."
        )
    else:
        said = "In the order in which they were found, degree by degree."
    return f"<p>{said}</p>"


def _class_table(facts: Facts, k: int, variety, total: float, both: bool) -> str:
    label, equations = variety.label, variety.equations
    n_generators = variety.model.n_generators_
    name = "All rows"
    if label is not None:
        name = f'<i class="swatch c{k}"></i>Class {isolated(label)}'
    parts = [] if label is None else [f"<h3>{name}</h3>"]
    if not n_generators:
        return "".join(parts) + "<p>No equation: nothing vanishes on the rows of this class.</p>"
    weighted = facts.coef is not None
    if weighted:
        unused = n_generators - variety.n_used
        parts.append(
            f'<p class="note">{_count(n_generators, "equation")}, {variety.n_used:,} with a weight'
            f"{f'; {unused:,} without, which decide nothing' if unused else ''}.</p>"
        )
    contrast = facts.y is not None and len(facts.varieties) > 1
    heads = [("no.", "ascending"), ("equation", None)]
    heads += [("influence", "descending"), ("weight", "descending")] * weighted
    heads.append(("|g| here: own, others" if contrast else "mean |g| here", "descending"))
    heads += [("mean square", "ascending"), ("degree", "ascending")]
    head = "".join(
        f'<th scope="col"{"" if first is None or title == "no." else " class=number"}'
        + (
            f">{title}"
            if first is None
            else f' data-first="{first}"{" aria-sort=ascending" if title == "no." else ""}>'
            f'<button type="button">{title}</button>'
        )
        + "</th>"
        for title, first in heads
    )
    largest = max((v for e in equations for v in (e.own, e.others) if math.isfinite(v)), default=0)
    top = max((e.influence for e in equations), default=0) if weighted else 0
    limit = max(5, min(_SHOWN[0], _SHOWN[1] // len(facts.varieties)))
    if weighted:
        limit = min(limit, max(1, variety.n_used))
    rows = [
        _row(facts, k, rank, e, total, top, largest, both, contrast, rank > limit)
        for rank, e in enumerate(equations, 1)
    ]
    table = f"equations-{k}"
    about = f"Equations{'' if label is None else f' of class {text(label, 40)}'}"
    parts.append(
        f'<div class="scroll" role="region" tabindex="0" aria-label="{about}">'
        f'<table id="{table}" class="sortable cards" data-limit="{limit}">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
    if len(equations) > limit:
        more = f"Show {len(equations)} of {n_generators:,}"
        if len(equations) == n_generators:
            more = f"Show all {n_generators:,}"
        parts.append(
            f'<button type="button" class="show-all" hidden aria-controls="{table}" '
            f'aria-expanded="false">{more}</button>'
        )
    if len(equations) < n_generators:
        left = n_generators - len(equations)
        parts.append(
            f'<p class="note">Not listed: {_count(left, "more equation")} of this class, which the '
            "model has.</p>"
        )
    return "".join(parts)


def _row(facts, k, rank, e, total, top, largest, both, contrast, hidden) -> str:
    def cell(value, shown, head, kind="number"):
        value = "" if value is None or math.isnan(value) else f"{value:.9g}"
        return f'<td class="{kind}" data-value="{value}" data-head="{head}">{shown}</td>'

    if e.generator is None:
        written = "<em>too many terms to be written out</em>"
    elif both:
        original = (
            equation(e.original, _TERMS, e.digits)
            if e.original is not None
            else "<em>too many terms in the columns as given</em>"
        )
        written = (
            f'<div class="eq scaled">{equation(e.generator, _TERMS)}</div>'
            f'<div class="eq original">{original}</div>'
        )
    else:
        written = f'<div class="eq">{equation(e.generator, _TERMS)}</div>'
    cells = [cell(rank, rank, "no.", "rank"), f'<td class="equation">{written}</td>']
    if e.weights is not None:
        share = e.influence / total if total else 0.0
        cells.append(
            cell(
                share,
                f"{_percent(share)}{charts.bar(e.influence / top if top else 0.0)}",
                "influence",
            )
        )
        s = int(np.abs(e.weights).argmax())
        shown = number(e.weights[s], 3)
        if len(e.weights) > 1 and e.weights[s]:
            shown += f' <span class="label">for {isolated(facts.varieties[s].label, 20)}</span>'
        cells.append(cell(e.weights[s], shown, "weight"))
    bars = charts.pair_of_bars(
        e.own, e.others if contrast else math.nan, largest, k if contrast else None
    )
    if contrast:
        ratio = e.others / e.own if e.own > 0 else math.inf
        shown = f"{number(e.own, 3)}, {number(e.others, 3)}{bars}"
        cells.append(cell(ratio, shown, "|g| here: own, others"))
    else:
        cells.append(cell(e.own, f"{number(e.own, 3)}{bars}", "mean |g| here"))
    shown = number(e.mse, 3)
    if not facts.seen and (facts.y is not None or facts.varieties[0].label is None):
        shown += f'<br><span class="label">here {number(e.measured, 3)}</span>'
    cells.append(cell(e.mse, shown, "mean square"))
    cells.append(cell(e.degree, e.degree, "degree", "number degree"))
    return f"<tr{' hidden' if hidden else ''}>{''.join(cells)}</tr>"


# -- Picture ----------------------------------------------------------------------------------


def _picture(facts: Facts, scene) -> str:
    if scene is None:
        return ""
    space = scene["dimension"] == 3
    what = "surfaces" if space else "curves"
    n_points = len(base64.b64decode(scene["points"])) // (2 * len(scene["names"]))
    said = [
        f"The {what} are the zeros of single equations; the points are "
        + (
            f"{_count(n_points, 'row')}."
            if n_points == len(facts.X)
            else f"a random sample of {n_points:,} of the {len(facts.X):,} rows, the same in every "
            "report."
        )
    ]
    if scene["units"] is None:
        said.append("The axes show scaled columns.")
    n_columns = facts.Z.shape[1]
    if n_columns > 3:
        said.append(
            f"Of the {n_columns} columns three can be drawn. The first choice is those that matter "
            "most to the decision (mean size of the derivative \u00d7 standard deviation). The "
            f"{what} are a section at the values of the other columns that the sliders show; the "
            "points are projected along them, and those far from the section, three quarters of "
            "them, are faint."
        )
    if n_columns > COLUMNS:
        said.append(
            f"The {COLUMNS} columns that matter most can be chosen; the others have their medians."
        )
    if not space and scene["decision"] is not None:
        said.append("The faint colour is the class that the model would name there.")
    alt = (
        f"Points and {what} in the columns {', '.join(scene['names'][: scene['dimension']])}. "
        "The table of equations says the same in numbers."
    )
    move = "Turn" if space else "Move"
    keys = (
        ("ArrowLeft", "\u2190", f"{move} left"),
        ("ArrowRight", "\u2192", f"{move} right"),
        ("ArrowUp", "\u2191", f"{move} up"),
        ("ArrowDown", "\u2193", f"{move} down"),
        ("+", "+", "Closer"),
        ("-", "\u2212", "Farther"),
        ("0", "Reset", "Reset the view"),
    )
    buttons = "".join(
        f'<button type="button" data-key="{key}" aria-label="{told}">{shown}</button>'
        for key, shown, told in keys
    )
    hint = (
        f"Drag to {'turn' if space else 'move'}; click it first to zoom with the wheel, or pinch. "
        "Keys: arrows, +, \u2212, 0."
    )
    return (
        f"<p>{' '.join(said)}</p>"
        '<div class="view"><div class="stage">'
        f'<canvas id="scene" tabindex="0" role="img" aria-label="{text(alt)}" '
        'aria-describedby="scene-hint"></canvas>'
        f'<div class="keys">{buttons}</div>'
        f'<p class="note" id="scene-hint">{hint}</p>'
        '<p class="note" id="scene-status" role="status"></p>'
        "<noscript><p>The picture needs JavaScript; everything else on this page does not.</p>"
        "</noscript></div>"
        f'<div id="scene-controls">{_controls(facts, scene)}</div></div>'
    )


def _controls(facts: Facts, scene) -> str:
    """Return what the reader can choose; the script adds axes and sliders."""

    def box(data, colour, shown, checked):
        mark = "" if colour is None else f'<i class="swatch {colour}"></i>'
        return (
            f'<label><input type="checkbox" {data}{" checked" if checked else ""}>{mark}'
            f"<span>{shown}</span></label>"
        )

    parts = []
    if len(scene["names"]) > 3:
        parts.append('<fieldset id="scene-axes"><legend>Axes</legend></fieldset>')
        parts.append('<fieldset id="scene-section"><legend>Other columns at</legend></fieldset>')
    if scene["labels"] is not None:
        boxes = [
            box(f'data-class="{k}"', f"c{k}", f"class {isolated(v.label, 24)}", True)
            for k, v in enumerate(facts.varieties)
        ]
        if scene["wrong"]:
            boxes.append(box('data-errors=""', None, "rings around wrong predictions", True))
        parts.append(f"<fieldset><legend>Points</legend>{''.join(boxes)}</fieldset>")
    boxes = []
    for i, surface in enumerate(scene["surfaces"]):
        colour = "ink" if surface["colour"] is None else f"c{surface['colour']}"
        if "score" in surface:
            shown, on = "where the prediction changes", False
            if len(scene["decision"]["intercept"]) > 1:
                label = isolated(facts.varieties[surface["score"]].label, 24)
                shown = f"where the prediction changes to or from {label}"
        else:
            k = 0 if facts.varieties[0].label is None else surface["colour"]
            variety = facts.varieties[k]
            written = equation(variety.equations[surface["rank"] - 1].generator, 4)
            shown = f'no. {surface["rank"]}: <span class="eq">{written}</span>'
            if variety.label is not None:
                shown = f"{isolated(variety.label, 24)}, {shown}"
            on = k < 3 and not any(
                s["colour"] == surface["colour"] or variety.label is None
                for s in scene["surfaces"][:i]
            )
        boxes.append(box(f'data-surface="{i}"', colour, shown, on))
    what = "Surfaces" if scene["dimension"] == 3 else "Curves"
    parts.append(f"<fieldset><legend>{what}: zeros of</legend>{''.join(boxes)}</fieldset>")
    return "".join(parts)


# -- Distances --------------------------------------------------------------------------------


def _distances(facts: Facts) -> str:
    quantiles = [v.distances for v in facts.varieties]
    if all(q is None for q in quantiles):
        return ""
    labelled = facts.y is not None
    groups = [v.label for v in facts.varieties] if labelled else ["all rows"]
    unit = "distance in scaled columns" if facts.scaled else "distance"
    names = [v.label for v in facts.varieties]
    chart = charts.distances(quantiles, names, groups, unit)
    rows = [
        (
            "all equations" if v.label is None else f"class {isolated(v.label)}",
            isolated(group),
            *(number(value, 3) for value in found),
        )
        for v in facts.varieties
        if v.distances is not None
        for group, found in zip(groups, v.distances, strict=True)
    ]
    table = _table(
        ["to the zeros of", "from rows of", *(f"#{100 * q:.0f}%" for q in QUANTILES)], rows
    )
    chart = chart or "<p>All distances are zero.</p>"
    many = "" if len(facts.varieties) == 1 else " of a class"
    return (
        f"<p>How far rows are from the points where all equations{many} hold exactly: a lower "
        "bound (Taubin's distance, the largest over the equations). A box holds the middle half of "
        "the rows with a line at the median, the whiskers nine tenths. "
        + (
            "A class that is well described has short distances from its own rows, and long ones "
            "from the others'."
            if labelled
            else ""
        )
        + f'</p><div class="scroll">{chart}</div>'
        "<details><summary>The numbers: shares of the rows that are closer than</summary>"
        f"{table}</details>"
        '<p class="note">From at most 400 rows of each class and at most 20 equations, the '
        "first of the tables above.</p>"
    )


# -- Sizes ------------------------------------------------------------------------------------


def _sizes(facts: Facts) -> str:
    weighted = facts.coef is not None
    rows = []
    for v in facts.varieties:
        model = v.model
        nonzero = round((1.0 - model.sparsity_) * model.n_coefficients_)
        name = "all rows" if v.label is None else isolated(v.label)
        rows.append(
            [
                name,
                f"{model.n_generators_:,}",
                *([f"{v.n_used:,}"] if weighted else []),
                f"{model.degree_}",
                f"{model.n_terms_:,}",
                f"{nonzero:,} of {model.n_coefficients_:,}",
                _percent(model.sparsity_),
            ]
        )
    heads = ["class" if facts.varieties[0].label is not None else "", "#equations |G|"]
    heads += ["#with a weight"] * weighted
    heads += ["#largest degree", "#terms |O|", "#nonzero coefficients", "#sparsity"]
    if len(rows) > 1:
        total = sum(v.model.n_coefficients_ for v in facts.varieties)
        sparsity = _sparsity(facts)
        rows.append(
            [
                "together",
                f"{facts.n_generators:,}",
                *([f"{facts.n_used:,}"] if weighted else []),
                f"{max(v.model.degree_ for v in facts.varieties)}",
                f"{sum(v.model.n_terms_ for v in facts.varieties):,}",
                f"{round((1.0 - sparsity) * total):,} of {total:,}",
                _percent(sparsity),
            ]
        )
    return (
        "<p>Sparsity is the share of zeros among the coefficients that an equation could have, its "
        "leading one left aside. O are the terms that no equation leads: what the equations are "
        f"written in.</p>{_table(heads, rows)}"
    )


# -- Guarantees -------------------------------------------------------------------------------


def _guarantees(facts: Facts) -> str:
    remarks = "".join(
        f'<p class="note">{text(remark[:1].upper() + remark[1:], 600)}</p>'
        for remark in facts.remarks
    )
    if facts.bounds is None:
        return f"<p>There are no bounds for this model:</p>{remarks}"
    if not len(facts.bounds):
        return "<p>There are no equations, and nothing to bound.</p>"
    listed = facts.bounds[:_BOUNDS]
    evaluated = not any(math.isnan(b.value) for b in facts.bounds)
    n_informative = sum(b.informative for b in facts.bounds)
    rows = []
    for b in listed:
        kind, verdict = ("good", "informative") if b.informative else ("bad", "vacuous")
        if not evaluated and not b.informative:
            kind, verdict = "", "not evaluated"
        rows.append(
            (
                text(b.name, 120),
                f'<span class="verdict {kind}">{verdict}</span>',
                number(b.value, 3),
                text(b.statement, 600),
                "\u2013" if b.samples_needed is None else f"{b.samples_needed:,}",
            )
        )
    conditions = dict.fromkeys(c for b in facts.bounds for c in b.conditions)
    listing = "".join(f"<li>{text(c, 400)}</li>" for c in conditions)
    left = len(facts.bounds) - len(listed)
    more = f'<p class="note">{_count(left, "more bound")} left out.</p>' if left else ""
    if not evaluated:
        verdict = (
            "The bounds cannot be evaluated on these rows, for the reason below. The table says "
            "how many rows of each class they would need to be informative."
        )
    elif n_informative:
        verdict = (
            f"{n_informative} of {len(facts.bounds)} are informative; a vacuous one is true but "
            "says no more than what holds anyway."
        )
    else:
        verdict = (
            "None of them says more about this model than what holds for any model: they are "
            "<strong>vacuous</strong>, true and of no use."
        )
    return (
        f"<p>What theory promises for new rows of the same kind. {verdict} All of them are worst "
        "cases: a test on rows that the model has not seen usually says more.</p>"
        + remarks
        + _table(
            ["bound", "#verdict", "#value", "what it says", "#rows to be informative"],
            rows,
            kind="cards",
        )
        + more
        + f'<p class="note">Each bound on an expectation E or a probability P fails with '
        f"probability at most {number(facts.bounds.delta)}. Provided that:</p>"
        f'<ul class="note">{listing}</ul>'
    )


# -- Settings and provenance ------------------------------------------------------------------


def _settings(facts: Facts) -> str:
    def listed(parameters):
        pairs = (
            (f"<code>{text(name, 80)}</code>", f"<code>{text(repr(value), 300)}</code>")
            for name, value in sorted(parameters.items())
        )
        return _pairs(pairs, "several")

    parts = [
        f"<h3>{text(type(facts.model).__name__)}</h3>",
        listed(facts.model.get_params(deep=False)),
    ]
    best = getattr(facts.core, "best_params_", None)
    if best is not None:
        results = facts.core.cv_results_
        i = facts.core.best_index_
        parts.append(
            f"<h3>Chosen by cross-validation</h3>{listed(best)}"
            f"<p>Mean score {number(results['mean_test_score'][i])} over {facts.core.n_splits_} "
            f"folds (standard deviation {number(results['std_test_score'][i], 2)}), the best of "
            f"{len(results['params'])} pairs tried.</p>"
        )
    inner = facts.varieties[0].model
    if inner is not facts.model:
        each = " for each class" if facts.varieties[0].label is not None else ""
        parts.append(
            f"<h3>{text(type(inner).__name__)}, which constructed the equations{each}</h3>"
            f"{listed(inner.get_params(deep=False))}"
        )
    if facts.classifier is not None:
        final = facts.classifier.final_estimator_
        parts.append(
            f"<h3>{text(type(final).__name__)}, which weighs them</h3>"
            f"{listed(final.get_params(deep=False))}"
        )
    return "".join(parts)


def _provenance(facts: Facts, data_name) -> str:
    def installed(name):
        try:
            return version(name)
        except PackageNotFoundError:
            return "unknown"

    packages = ("numpy", "scipy", "scikit-learn", "numba")
    pairs = [
        ("report written", _date()),
        ("vanishing", text(vanishing.__version__)),
        ("Python", text(platform.python_version())),
        *((name, text(installed(name))) for name in packages),
        ("data", isolated(data_name, 200) if data_name is not None else "not named"),
        ("rows and columns", f"{facts.X.shape[0]:,} \u00d7 {facts.X.shape[1]:,}"),
        ("SHA-256 of the rows", f'<span class="mono">{facts.sha256}</span>'),
    ]
    columns = [
        (isolated(name, 60), number(low, 4), number(middle, 4), number(high, 4))
        for name, low, middle, high in zip(
            facts.names[:100],
            facts.X.min(axis=0),
            np.median(facts.X, axis=0),
            facts.X.max(axis=0),
            strict=False,
        )
    ]
    table = _table(["column", "#least", "#median", "#largest"], columns, kind="narrow")
    same = len(facts.names) == facts.X.shape[1]
    return (
        _pairs(pairs)
        + '<p class="note">The checksum is that of the values as 64-bit floats, little-endian, row '
        "by row: <code>hashlib.sha256(np.ascontiguousarray(X, '&lt;f8').tobytes())</code>.</p>"
        + (f"<details><summary>The columns as given</summary>{table}</details>" if same else "")
    )


def _reading(facts: Facts) -> str:
    points = [
        "<strong>An equation</strong> g = 0 holds approximately: g is a polynomial in the columns "
        "whose <em>mean square</em>, the mean of g(x)\u00b2 over the rows it was fitted to, is at "
        "most psi. Its square root is a typical violation.",
    ]
    if facts.classifier is not None:
        points.append(
            "<strong>Each class has its own equations.</strong> A row is judged by |g|, how badly "
            "it violates each of them: small for the equations of its own class and, ideally, "
            "large for those of the others. A linear classifier adds up weight \u00d7 |g|; the "
            "sign decides or, with more than two classes, the largest sum."
        )
        points.append(
            "<strong>Influence is no cause.</strong> It says by how much an equation moves the "
            "decision value on these rows. Equations resemble each other, and another fit may give "
            "the weight to a relative."
        )
    points += [
        "<strong>Scaled columns</strong> are what the polynomials are computed in, usually the "
        "range of each column in the fit mapped to 0 to 1; far outside of it polynomials grow "
        "quickly and mean little."
        if facts.scaled
        else "<strong>Far outside the range of the fit</strong> polynomials grow quickly and mean "
        "little.",
        "<strong>The interval of the error</strong> is Wilson's, for rows drawn independently that "
        "the model has not seen. For the rows of the fit it means nothing."
        if facts.errors is not None
        else "",
        f"<strong>This file</strong> holds at most {POINTS:,} rows of at most {COLUMNS} columns, "
        "in 16-bit precision, for the picture, beside the numbers it shows. Send it on only to "
        "those who may see them.",
    ]
    return "<ul>" + "".join(f"<li>{point}</li>" for point in points if point) + "</ul>"
