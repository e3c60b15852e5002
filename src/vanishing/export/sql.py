"""Models as expressions of SQL over the columns of a table."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import count
from typing import ClassVar, NamedTuple

import numpy as np

from vanishing.algebra.programs import SQL, is_sql_product, sql_identifier, sql_text
from vanishing.algebra.writing import Written
from vanishing.checks import check_choice
from vanishing.export.computation import Computation, Steps, Value, in_order
from vanishing.export.models import computation_of
from vanishing.export.notation import Notation

_REPEATED = 200  # characters that may be written again; beyond, what they say gets a name
_ROW_DIGITS = 10  # of the coordinates of neighbours, in units of what they vary by
_MOST_NAMES = 1600  # columns of a query: databases have limits

Place = tuple[int, int]  # of an entry: the id of its vector, and its place there


def to_sql(model: object, output: str | None = None) -> str:
    r"""Write a fitted model as an expression of SQL over the columns of a table.

    It is standard SQL, as SQLite, PostgreSQL and DuckDB read it. Scaling is part of it. A long
    value that is used several times has a name in subqueries without a table, so that the text
    remains an expression: ``f"SELECT {to_sql(model)} FROM measurements"``.

    Parameters
    ----------
    model : estimator, Pipeline or Law
        As `to_python` takes it.
    output : str, default=None
        Of a classifier, "decision" (the default with two classes: positive for the second),
        "label" (the default with more classes) or "probabilities". Of a detector, "decision" (the
        default: negative for outliers), "score" or "label" (-1 or 1). Other models have one output
        each: "features", "prediction", "residual" or "derivatives".

    Returns
    -------
    text : str
        One expression; where there are several values, such as features or decision values of
        more than two classes, expressions with names, ``... AS "name"``, separated by commas.

    See Also
    --------
    to_python : Source of a Python module that needs NumPy alone.
    to_c : Source of one C function.
    to_onnx : ONNX graph of standard operators.

    Notes
    -----
    Names of columns are quoted: ``"a ""quoted"" name"``. Columns are cast to DOUBLE PRECISION,
    since SQL truncates integer division. If a column is NULL, the result is NULL. Functions without
    a value, such as the logarithm of a negative number, are NULL in SQLite and an error in
    PostgreSQL. Labels of a detector take less time than its scores: neighbours, whose coordinates
    have ten digits, are computed for the few rows that need them. With ``scale="quantile"`` the
    text is long: it has a line for each quantile of each column.
    SQLite has LN, EXP and SQRT if it was built with mathematical functions, as it mostly is.

    Examples
    --------
    >>> import pandas as pd
    >>> from vanishing import check_law
    >>> from vanishing.export import to_sql
    >>> table = pd.DataFrame({"F": [2.0, 4.1, 5.9], "x": [1.0, 2.0, 3.0]})
    >>> print(to_sql(check_law("F = k*x", table)))
    1.99... * CAST("x" AS DOUBLE PRECISION)
    """
    computation = computation_of(model)
    output = _output(computation, output)
    if not computation.names:
        raise ValueError("the model has no generators, so that there is nothing to export.")
    if output == "label":
        return _label(computation)
    value = computation.outputs[output]
    source = _SQLSource.of(computation.columns, value, 1)
    texts = [source.expression([(id(value), i)]) for i in range(value.width)]
    if len(texts) == 1:
        return texts[0]
    names = computation.names
    if output == "probabilities" and computation.classes is not None:
        names = tuple(map(str, computation.classes.tolist()))
    return ",\n".join(
        f"{text} AS {sql_identifier(name)}" for text, name in zip(texts, names, strict=True)
    )


def _output(computation: Computation, output) -> str:
    """Return which output is asked for."""
    first, *others = computation.outputs
    choices = [first, *others, *(["label"] if first == "decision" else [])]
    if output is not None:
        check_choice("output", output, choices)
        return output
    return "label" if computation.kind == "classifier" and len(computation.names) > 1 else first


def _label(computation: Computation) -> str:
    """Write the label of a row."""
    value = computation.outputs["decision"] if computation.sign is None else computation.sign
    places = [(id(value), i) for i in range(value.width)]
    source = _SQLSource.of(computation.columns, value, 2 + value.width)
    classes = [-1, 1] if computation.classes is None else computation.classes.tolist()
    labels = [_literal(label) for label in classes]
    if len(places) > 1:
        return source.expression(places, lambda texts: _largest_of(texts, labels))
    # A detector's decision value 0 is not an outlier's; that of a classifier is the first class's.
    below, above = ("<", ">=") if computation.kind == "detector" else ("<=", ">")
    return source.expression(
        places,
        lambda texts: (
            f"CASE WHEN {texts[0].text} {above} 0.0 THEN {labels[1]} "
            f"WHEN {texts[0].text} {below} 0.0 THEN {labels[0]} END"
        ),
    )


def _largest_of(texts: list[Written], labels: list[str]) -> str:
    """Write the label of the largest value, of the first of these if there are several."""
    total = " + ".join(text.atom for text in texts)
    cases = [f"WHEN {total} IS NULL THEN NULL"]
    for i, (text, label) in enumerate(zip(texts[:-1], labels, strict=False), start=1):
        larger = " AND ".join(f"{text.atom} >= {other.atom}" for other in texts[i:])
        cases.append(f"WHEN {larger} THEN {label}")
    return f"CASE {' '.join(cases)} ELSE {labels[-1]} END"


def _literal(label) -> str:
    """Write a label."""
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, (int, float)):
        return repr(label)
    return "'" + sql_text(str(label), "the label").replace("'", "''") + "'"


def _needed_at_once(value: Value) -> Sequence[Value]:
    """Return what an operation needs whatever is chosen."""
    return value.inputs[:1] if value.operation == "choose" else value.inputs


class _Named(NamedTuple):
    """What has a name in a subquery."""

    text: str
    names: frozenset[str]  # that occur in the text
    level: int


class _SQLSource(Notation, SQL):
    """Texts of the entries of vectors, and those of them that have names.

    Parameters
    ----------
    columns : tuple of str
    """

    choices: ClassVar[dict[str, str]] = {  # where one is NULL, so is what is chosen
        "minimum": "CASE WHEN {0} > {1} THEN {1} WHEN {1} IS NOT NULL THEN {0} END",
        "maximum": "CASE WHEN {0} < {1} THEN {1} WHEN {1} IS NOT NULL THEN {0} END",
        "clip": "CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END",
        "zero_below": "CASE WHEN {0} < {1} THEN 0.0 ELSE {0} END",
    }

    def __init__(self, columns: tuple[str, ...]):
        super().__init__(columns)
        self.prefix = "v"
        while any(re.fullmatch(rf"{self.prefix}\d+", name.lower()) for name in columns):
            self.prefix += "v"
        self.texts: dict[Place, Written] = {}
        self.names_in: dict[Place, frozenset[str]] = {}
        self.named: dict[str, _Named] = {}
        self.written: Counter = Counter()
        self.n_named = count(1)

    @classmethod
    def of(cls, columns: tuple[str, ...], output: Value, times: int) -> "_SQLSource":
        """Return the texts of a value, each of whose entries will be written so many times."""
        source = cls(columns)
        source.written = source._count(in_order([output])[0], output, times)
        source._write_all(output)
        return source

    def _write_all(self, output: Value) -> None:
        """Write a value and what it needs, but for what may not be chosen."""
        for value in in_order([output], needs=_needed_at_once)[0]:
            for i in range(value.width):
                times = self.written[id(value), i]
                if times and (id(value), i) not in self.texts:
                    self._write(value, i, times)

    def _inside(self) -> "_SQLSource":
        """Return a source of expressions within one of this, whose names they know."""
        inside = copy(self)
        inside.texts, inside.names_in, inside.named = dict(self.texts), dict(self.names_in), {}
        return inside

    def _count(self, values: list[Value], output: Value, times: int) -> Counter:
        """Return how often each entry is written."""
        written: Counter = Counter({(id(output), i): times for i in range(output.width)})
        for value in reversed(values):
            for i in range(value.width):
                count = written[id(value), i]
                if count:
                    is_same = value.operation in ("take", "join")
                    each = count if is_same else self.times_written(value)
                    for place in self._needed(value, i):
                        written[place] += each
        return written

    def _needed(self, value: Value, i: int) -> list[Place]:
        """Return the entries that an entry is computed from."""
        inputs = value.inputs
        if value.operation == "take":
            return [(id(inputs[0]), int(value.data["places"][i]))]
        if value.operation == "join":
            for part in inputs:
                if i < part.width:
                    return [(id(part), i)]
                i -= part.width
        if value.operation == "nearest":
            return [(id(inputs[0]), j) for j in range(inputs[0].width)]
        if value.operation == "linear":
            return [(id(inputs[0]), j) for j in np.flatnonzero(value.data["matrix"][i]).tolist()]
        return [(id(part), 0 if part.width == 1 else i) for part in inputs]

    def _write(self, value: Value, i: int, times: int) -> None:
        """Write an entry, and give it a name if it is long and will be written again."""
        if value.operation == "choose":
            text, names = self._choice(value, i)
        else:
            needed = self._needed(value, i)
            text = self._text(value, i, [self.texts[place] for place in needed])
            names = frozenset[str]().union(*(self.names_in[place] for place in needed))
        passes = value.operation in ("take", "join")
        if not passes and len(text.text) > 8 and (times - 1) * len(text.text) > _REPEATED:
            name = f"{self.prefix}{next(self.n_named)}"
            self.named[name] = _Named(text.text, names, self._level(names))
            text, names = Written(name), frozenset([name])
        self.texts[id(value), i] = text
        self.names_in[id(value), i] = names

    def _choice(self, value: Value, i: int) -> tuple[Written, frozenset[str]]:
        """Write what is chosen by a sign, each with a subquery for what it alone needs."""
        place, *chosen = self._needed(value, i)
        texts, names = [self.texts[place].text], set(self.names_in[place])
        for part, of_part in zip(value.inputs[1:], chosen, strict=True):
            inside = self._inside()
            inside._write_all(part)
            texts.append(inside.expression([of_part]))
            names |= inside.names_in[of_part].union(*(each.names for each in inside.named.values()))
            names -= inside.named.keys()
        text = "CASE WHEN {} < 0.0 THEN {} ELSE {} END".format(*texts)
        return Written(text), frozenset(names)

    def _level(self, names: Iterable[str]) -> int:
        """Return the subquery, counted from the innermost, in which names are known."""
        return max((self.named[name].level + 1 for name in names if name in self.named), default=0)

    def _text(self, value: Value, i: int, operands: list[Written]) -> Written:
        operation, data = value.operation, value.data
        if operation == "columns":
            name = self.names[i]
            if self.names.count(name) > 1:
                raise ValueError(
                    f"two columns are called {name!r}, and SQL tells columns apart by their names: "
                    "rename them, and fit the model again."
                )
            return self.column(i)
        if operation == "constant":
            return self.literal(data["values"][i])
        if operation in ("take", "join"):
            return operands[0]
        if operation == "linear":
            row = data["matrix"][i]
            entries = dict(zip(np.flatnonzero(row).tolist(), operands, strict=True))
            return self.weighted_sum(row, data["offset"][i], entries.__getitem__)
        if operation == "nearest":
            return self._nearest(operands, data["groups"][i], data["equal"])
        if operation == "quantiles":
            return self._steps(operands[0], data["steps"][i])
        return self.entry(value, operands, lambda key: self.literal(data[key][i]))

    def expression(self, places: list[Place], write=lambda texts: texts[0].text) -> str:
        """Return an expression of some entries, with all that has names in it."""
        names = frozenset[str]().union(*(self.names_in[place] for place in places))
        names &= self.named.keys()  # others are known where the expression is
        text = write([self.texts[place] for place in places])
        if not names:
            return text
        last = self._last_levels(names)
        tables = []
        for level in range(self._level(names)):
            kept = [name for name in last if self.named[name].level < level < last[name]]
            new = [
                f"{self.named[name].text} AS {name}"
                for name in last
                if self.named[name].level == level
            ]
            if len(kept) + len(new) > _MOST_NAMES:
                raise ValueError(
                    f"the model needs {len(kept) + len(new)} values at once, more than databases "
                    "have room for: fit one with fewer generators or terms, or use to_c."
                )
            source = f"\nFROM {self.prefix}_{level}" if level else ""
            # It is one row. Without DISTINCT databases put texts in place of names, over and over.
            row = f"SELECT DISTINCT {', '.join([*kept, *new])}{source}"
            tables.append(f"{self.prefix}_{level + 1} AS ({row})")
        known = ",\n".join(tables)
        return f"(WITH {known}\nSELECT {text}\nFROM {self.prefix}_{len(tables)})"

    def _last_levels(self, names: frozenset[str]) -> dict[str, int]:
        """Return all names that some need, in order, and the last subquery that reads each."""
        last = dict.fromkeys(names, self._level(names))
        for name in reversed(self.named):
            if name in last:
                for inner in self.named[name].names & self.named.keys():
                    last[inner] = max(last.get(inner, 0), self.named[name].level)
        return {name: last[name] for name in self.named if name in last}

    # -- Entry by entry ---------------------------------------------------------------------------

    def times_written(self, value: Value) -> int:
        """Return how often the text of an operation holds that of its input."""
        operation, data = value.operation, value.data
        if operation == "power" and is_sql_product(data["exponent"]):
            return int(data["exponent"])
        if operation == "nearest":
            return 2
        if operation == "quantiles":
            return 3 * max(len(column.knots) for column in data["steps"])
        return super().times_written(value)

    def _nearest(self, entries: list[Written], rows: np.ndarray, equal: float) -> Written:
        """Write the squared distance to the nearest row of a table that is part of the text."""
        # The row's own length is added at the end, and rows have theirs as a last column.
        names = [f"{self.prefix}_row{j}" for j in range(len(entries) + 1)]
        rows = np.round(rows, _ROW_DIGITS)
        texts = [
            [*(f"{-2.0 * v:.{_ROW_DIGITS}f}" for v in row), repr(float(row @ row))] for row in rows
        ]
        texts[0] = [f"{v} AS {name}" for v, name in zip(texts[0], names, strict=True)]
        table = " UNION ALL SELECT ".join(", ".join(row) for row in texts)
        products = [f"{x.atom} * {name}" for x, name in zip(entries, names, strict=False)]
        square = " + ".join([names[-1], *products])
        length = " + ".join(f"{x.atom} * {x.atom}" for x in entries)
        limit, width = self.literal(equal).text, self.literal(2.0 * np.sqrt(equal)).text
        # Few rows have an equal first entry, so that most distances are computed once.
        is_equal = f"ABS({names[0]} + 2.0 * {entries[0].atom}) <= {width} "
        is_equal += f"AND {square} < {limit} - ({length})"
        least = f"MIN(CASE WHEN {is_equal} THEN NULL ELSE {square} END) + {length}"
        return Written(
            f"(SELECT COALESCE({least}, 0.0)\nFROM (SELECT {table}) AS {self.prefix}_rows)"
        )

    def _steps(self, x: Written, steps: Steps) -> Written:
        """Write a function that consists of straight lines, whose place is found by halves."""
        number = self.literal

        def line(k: int) -> str:
            base, at, start, slope = (part[k] for part in steps[1:])
            text = number(start)
            if slope:
                distance = self.added(x, number(base), is_subtracted=True)
                text = self.added(text, self.product([distance, number(slope)]))
            if at == start:
                return text.text
            is_knot = f"{x.text} = {number(base).text}"
            return f"CASE WHEN {is_knot} THEN {number(at).text} ELSE {text.text} END"

        def choice(low: int, high: int) -> str:
            if low == high:
                return line(low)
            middle = (low + high) // 2
            left, right = choice(low, middle), choice(middle + 1, high)
            knot = number(steps.knots[middle]).text
            return f"CASE WHEN {x.text} < {knot} THEN {left} ELSE {right} END"

        return Written(f"CASE WHEN {x.text} IS NOT NULL THEN {choice(0, len(steps.knots))} END")
