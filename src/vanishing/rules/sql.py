"""Rules in SQL: a table that checks its rows, and a query for the rows that break rules."""

import re
from collections.abc import Sequence

from vanishing.algebra.programs import SQL, sql_identifier
from vanishing.rules.kinds import Rule, sql_literal

_LONGEST = 63  # bytes of a name that PostgreSQL keeps


class _BareSQL(SQL):
    """Writes columns of a table whose types are known, without a cast."""

    def name(self, name: str) -> str:
        """Write a name."""
        return sql_identifier(name)


def create_table(
    rules: Sequence[Rule], columns: Sequence[str], texts: Sequence[str], table: str
) -> str:
    """Return one statement CREATE TABLE with the rules as named checks.

    Parameters
    ----------
    rules : sequence of Rule
    columns, texts : sequence of str
        All columns, and those that hold texts.
    table : str
    """
    _check_names(columns, table)
    language = _BareSQL(columns)
    lines = [
        f"{sql_identifier(name)} {'TEXT' if name in texts else 'DOUBLE PRECISION'}"
        for name in columns
    ]
    for rule, name in zip(rules, constraint_names(rules), strict=True):
        lines.append(f"CONSTRAINT {name} CHECK ({rule.condition(language)})")
    body = ",\n  ".join(lines)
    return f"CREATE TABLE {sql_identifier(table)} (\n  {body}\n);\n"


def select_violations(rules: Sequence[Rule], columns: Sequence[str], table: str) -> str:
    """Return a query for the rows that break a rule, one row per rule that is broken.

    Parameters
    ----------
    rules : sequence of Rule
    columns : sequence of str
    table : str
    """
    _check_names(columns, table)
    language = SQL(columns)
    listed = ", ".join(map(sql_identifier, columns))
    source = sql_identifier(table)
    if not rules:
        return f"SELECT '' AS rule, {listed} FROM {source} WHERE 1 = 0;\n"
    queries = [
        f"SELECT {sql_literal(str(rule))} AS rule, {listed} FROM {source}\n"
        f"WHERE NOT ({rule.condition(language)})"
        for rule in rules
    ]
    return "\nUNION ALL\n".join(queries) + ";\n"


def constraint_names(rules: Sequence[Rule]) -> list[str]:
    """Return a name for each rule that needs no quotes: its kind and its first column."""
    names: list[str] = []
    for rule in rules:
        word = re.sub(r"\W+", "_", rule.columns[0].lower(), flags=re.ASCII).strip("_")[:40]
        name = start = f"{rule.kind}_{word or 'column'}"  # "order" alone is a word of SQL
        count = 1
        while name in names:
            count += 1
            name = f"{start}_{count}"
        names.append(name)
    return names


def _check_names(columns: Sequence[str], table: str) -> None:
    """Raise ValueError where databases would take two columns for one, or refuse a name."""
    if not isinstance(table, str) or not table:
        raise ValueError(f"table must be the name of a table; got {table!r}.")
    known: dict[str, str] = {}
    for name in columns:
        if not name:
            raise ValueError("a column has no name, and SQL knows columns by their names.")
        key = name.encode("utf-8", "surrogatepass")[:_LONGEST].decode("utf-8", "replace").lower()
        if key in known:
            raise ValueError(
                f"databases take the columns {known[key]!r} and {name!r} for the same: they look "
                f"at the first {_LONGEST} bytes, and mostly not at capitals. Rename one."
            )
        known[key] = name
