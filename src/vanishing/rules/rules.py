"""The result `Rules`: checks of the rows of a table, in words and for other systems."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple, overload

import numpy as np

from vanishing._types import BoolArray, Path, Table
from vanishing.algebra import saving
from vanishing.persistence import register_result, save
from vanishing.persistence.files import write_or_say
from vanishing.rules.columns import is_text, read_columns
from vanishing.rules.frameworks import expectations_text, pandera_text
from vanishing.rules.kinds import (
    CodesRule,
    IntegerRule,
    LawRule,
    OrderRule,
    RangeRule,
    Rule,
    SignRule,
)
from vanishing.rules.sql import create_table, select_violations


class Violation(NamedTuple):
    """A row that breaks a rule.

    Attributes
    ----------
    row : int
        The place of the row, from 0.
    rule : Rule
    found : str
        The cells that the rule is about, in words.
    """

    row: int
    rule: Rule
    found: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.found}; {self.rule}"


class Rules(Sequence[Rule]):
    """Rules that every row of a table has to keep, each of them about a single row.

    They are made by `rules_of`. A cell that is missing breaks no rule, as in SQL.

    Parameters
    ----------
    rules : iterable of Rule
    columns : iterable of str
        Names of all columns of the table, in their order.
    texts : iterable of str, default=()
        Those of them that hold texts.

    Attributes
    ----------
    columns : tuple of str
    texts : tuple of str

    See Also
    --------
    rules_of : Makes rules of laws and a table.

    Examples
    --------
    >>> from vanishing import load, rules_of
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> q, w = random.uniform(1, 3, (2, 500))
    >>> rules = rules_of(["x2 = x0*x1"], np.column_stack([q, w, q * w]))
    >>> print(rules[0])
    x2 = x0*x1, up to ...e-12
    >>> [violation.row for violation in rules.check([[1.0, 2.0, 2.0], [2.0, 2.0, 4.5]])]
    [1]
    """

    columns: tuple[str, ...]
    texts: tuple[str, ...]

    def __init__(self, rules: Iterable[Rule], columns: Iterable[str], texts: Iterable[str] = ()):
        self._rules = tuple(rules)
        self.columns, self.texts = tuple(columns), tuple(texts)
        known = set(self.columns)
        for rule in self._rules:
            unknown = [name for name in rule.columns if name not in known]
            if unknown:
                raise ValueError(f"a rule is about {unknown[0]!r}, which is no column.")

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> "Rules": ...
    def __getitem__(self, index):
        """Return a rule, or some of them."""
        if isinstance(index, slice):
            return Rules(self._rules[index], self.columns, self.texts)
        return self._rules[index]

    def __len__(self) -> int:
        return len(self._rules)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rules):
            return NotImplemented
        parts = [(r._rules, r.columns, r.texts) for r in (self, other)]
        return parts[0] == parts[1]

    def __hash__(self) -> int:
        return hash((self._rules, self.columns, self.texts))

    def __str__(self) -> str:
        return "\n".join(map(str, self._rules)) or "No rule has support."

    def __repr__(self) -> str:
        return f"<{len(self)} rules about {len(self.columns)} columns>"

    # -- Rows -------------------------------------------------------------------------------------

    def check(self, X: Table) -> list[Violation]:
        """Return one entry per rule that a row breaks, row by row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), or frame
            A frame is read by the names of its columns, and may have others. Cells may be missing.

        Returns
        -------
        violations : list of Violation
            With ``row``, ``rule`` and ``found``. Empty where all rows keep all rules.
        """
        columns = self._read(X)
        return [
            Violation(int(row), self[place], self[place].found(columns, row))
            for row, place in np.argwhere(~self.held(columns)).tolist()
        ]

    def holds(self, X: Table) -> BoolArray:
        """Say which rows keep which rules.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), or frame
            As for `check`.

        Returns
        -------
        holds : ndarray of bool of shape (n_rows, n_rules)
        """
        return self.held(self._read(X))

    def _read(self, X: Table) -> dict[str, np.ndarray]:
        columns = read_columns(X, self.columns)
        for name, column in columns.items():
            if is_text(column) and name not in self.texts and len(column):
                cell = next((c for c in column if c is not None), None)
                if cell is not None:
                    raise ValueError(
                        f"column {name!r} is one of numbers, but has cells such as {cell!r}."
                    )
                columns[name] = np.full(len(column), np.nan)
            elif name in self.texts and not is_text(column):
                texts = [None if np.isnan(value) else f"{value:g}" for value in column]
                columns[name] = np.array(texts, dtype=object)
        return columns

    def held(self, columns: dict[str, np.ndarray]) -> BoolArray:
        """Say which rows of columns that were read keep which rules.

        Parameters
        ----------
        columns : dict from str to ndarray of shape (n_rows,)
            Numbers, NaN where there is none; texts as objects, None where there is none.

        Returns
        -------
        holds : ndarray of bool of shape (n_rows, n_rules)
        """
        n_rows = len(next(iter(columns.values())))
        held = [rule.holds(columns) for rule in self._rules]
        return np.column_stack(held) if held else np.ones((n_rows, 0), dtype=bool)

    # -- Other systems ----------------------------------------------------------------------------

    def to_sql(self, table: str = "data") -> str:
        """Return one statement CREATE TABLE, with the rules as named checks.

        SQLite, PostgreSQL and DuckDB read it.

        Parameters
        ----------
        table : str, default="data"
            Name of the table.

        Returns
        -------
        statement : str
        """
        return create_table(self._rules, self.columns, self.texts, table)

    def violations_sql(self, table: str = "data") -> str:
        """Return a query for the rows of a table that break a rule.

        Parameters
        ----------
        table : str, default="data"
            Name of the table, which has the columns; it may have others.

        Returns
        -------
        query : str
            Its first column is the rule in words. A row comes once per rule that it breaks.
        """
        return select_violations(self._rules, self.columns, table)

    def to_pandera(self) -> str:
        """Return the source of a Python module with a pandera schema, ``schema``.

        Returns
        -------
        source : str
            It needs NumPy and pandera.
        """
        return pandera_text(self._rules, self.columns, self.texts)

    def to_great_expectations(self) -> str:
        """Return an expectation suite of Great Expectations as JSON.

        Returns
        -------
        text : str
            For ``ExpectationSuite(**json.loads(text))``. Laws are expectations whose condition is
            SQL, for tables in a database.
        """
        return expectations_text(self._rules, self.columns)

    def save(self, path: Path) -> None:
        """Write the rules to a file, in the format that its name ends with.

        Parameters
        ----------
        path : str or path-like
            `vanishing.load` and ``vanishing check`` read ``.json``. ``.sql`` has the statement
            CREATE TABLE for a table named as the file, ``.py`` a pandera schema, ``.gx.json`` a
            suite of Great Expectations, and ``.txt`` the rules in words. An existing file is
            replaced in one step: it is never half written.
        """
        path = FilePath(path)
        ending = next((e for e in FORMATS if path.name.lower().endswith(e)), None)
        if ending is None:
            raise ValueError(
                f"the name of a file of rules ends with {', '.join(FORMATS)}; got {path.name!r}."
            )
        write = FORMATS[ending]
        if write is None:
            save(self, path)
        else:
            write_or_say(path, write(self, path.stem), "the rules were not written")


# By what a name ends with; None is the file that `load` reads.
FORMATS: dict[str, Callable[[Rules, str], str] | None] = {
    ".gx.json": lambda rules, name: rules.to_great_expectations(),
    ".json": None,
    ".sql": lambda rules, name: rules.to_sql(name),
    ".py": lambda rules, name: rules.to_pandera(),
    ".txt": lambda rules, name: f"{rules}\n",
}


# -- Saving ---------------------------------------------------------------------------------------


def _write(writer, rules: Rules) -> dict:
    return {
        "columns": list(rules.columns),
        "texts": list(rules.texts),
        "rules": [_write_rule(writer, rule) for rule in rules],
    }


def _write_rule(writer, rule: Rule) -> dict:
    node: dict[str, Any] = {"rule": rule.kind, "words": str(rule), "columns": list(rule.columns)}
    if isinstance(rule, LawRule):
        node["left"] = saving.write_tree(writer, rule.left)
        node["right"] = saving.write_tree(writer, rule.right)
        node["tolerance"] = writer.float(rule.tolerance)
        node["relative"] = writer.float(rule.relative)
    elif isinstance(rule, RangeRule):
        node["low"], node["high"] = rule.low, rule.high
    elif isinstance(rule, SignRule):
        node["sign"] = rule.sign
    elif isinstance(rule, CodesRule):
        node["codes"] = list(rule.codes)
    return node


_PARTS: dict[str, tuple[str, ...]] = {
    "law": ("left", "right", "tolerance", "relative"),
    "range": ("low", "high"),
    "sign": ("sign",),
    "integer": (),
    "order": (),
    "codes": ("codes",),
}


def _read(reader, node) -> Rules:
    columns, texts, rules = reader.fields(node, "rules", ("columns", "texts", "rules"))
    columns = reader.names(columns, "columns", None)
    texts = reader.names(texts, "texts", None)
    reader.require(set(texts) <= set(columns), "a column of texts is no column.")
    reader.require(len(set(columns)) == len(columns), "a column occurs twice.")
    return Rules(
        [_read_rule(reader, rule, columns, texts) for rule in reader.listed(rules, "rules")],
        columns,
        texts,
    )


def _read_rule(reader, node, columns: list[str], texts: list[str]) -> Rule:
    reader.require(isinstance(node, dict), "a rule is not an object.")
    kind = reader.string(node.get("rule"), "the kind of a rule")
    reader.require(kind in _PARTS, f"a rule is of the kind {kind!r}, which is unknown.")
    _, names, *parts, words = reader.fields(
        node, "a rule", ("rule", "columns", *_PARTS[kind]), ("words",)
    )
    reader.string(words or "", "words")
    names = tuple(reader.names(names, "the columns of a rule", 2 if kind == "order" else None))
    reader.require(names and set(names) <= set(columns), "a rule is about an unknown column.")
    if kind == "law":
        left, right = (saving.read_tree(reader, part, len(names)) for part in parts[:2])
        tolerance, relative = reader.floats(parts[2:], "tolerance", 2).tolist()
        reader.require(min(tolerance, relative) >= 0.0, "a tolerance is negative.")
        rule: Rule = LawRule(names, left, right, tolerance, relative)
    elif kind == "range":
        ends = [None if part is None else reader.floats([part], "range")[0] for part in parts]
        reader.require(ends != [None, None], "a range has no ends.")
        rule = RangeRule(names, *(None if end is None else float(end) for end in ends))
    elif kind == "sign":
        sign = reader.integer(parts[0], "sign", -1, 1)
        reader.require(sign, "a sign is zero.")
        rule = SignRule(names, sign)
    elif kind == "codes":
        rule = CodesRule(names, _read_codes(reader, parts[0], names[0] in texts))
    else:
        rule = IntegerRule(names) if kind == "integer" else OrderRule(names)
    is_one = kind not in ("law", "order")
    reader.require(not is_one or len(names) == 1, "a rule is about several columns.")
    about_text = kind == "codes" and isinstance(rule, CodesRule) and rule.are_texts
    reader.require(
        about_text or not set(names) & set(texts), "a rule about numbers is about texts."
    )
    return rule


def _read_codes(reader, node, are_texts: bool) -> tuple:
    codes = reader.listed(node, "codes")
    reader.require(codes, "a rule has no codes.")
    if are_texts:
        return tuple(reader.string(code, "a code") for code in codes)
    return tuple(reader.floats(codes, "codes").tolist())


register_result(Rules, _write, _read)
