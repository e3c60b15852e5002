"""Rules as texts for packages that check tables: pandera and Great Expectations."""

import json
from collections.abc import Sequence

from vanishing._version import __version__
from vanishing.algebra.programs import SQL, Python
from vanishing.rules.kinds import (
    CodesRule,
    IntegerRule,
    LawRule,
    OrderRule,
    RangeRule,
    Rule,
    SignRule,
)


class _OfFrame(Python):
    """Writes columns as those of a frame ``rows``."""

    def name(self, name: str) -> str:
        """Write a name."""
        return f"rows[{name!r}]"


def pandera_text(rules: Sequence[Rule], columns: Sequence[str], texts: Sequence[str]) -> str:
    """Return the source of a module with a pandera schema.

    Parameters
    ----------
    rules : sequence of Rule
    columns, texts : sequence of str
        All columns, and those that hold texts.
    """
    lines = [
        f'"""Rules of a table, written by vanishing {__version__}."""',
        "",
        "import numpy as np",
        "",
        "try:",
        "    import pandera.pandas as pa",
        "except ImportError:  # versions before 0.24",
        "    import pandera as pa",
        "",
        "schema = pa.DataFrameSchema(",
        "    {",
    ]
    for name in columns:
        kind = "str" if name in texts else "float"
        lines.append(f"        {name!r}: pa.Column({kind}, nullable=True, coerce=True),")
    lines += ["    },", "    checks=["]
    for rule in rules:
        lines += [
            "        pa.Check(",
            f"            lambda rows: ~({_broken(rule)}),",
            f"            error={str(rule)!r},",
            "        ),",
        ]
    lines += ["    ],", ")", ""]
    return "\n".join(lines)


def _broken(rule: Rule) -> str:
    """Write in Python which rows of a frame break a rule; a missing cell breaks none."""
    language = _OfFrame(rule.columns)
    first = language.name(rule.columns[0])
    if isinstance(rule, LawRule):
        left, right = language.signed(rule.left), language.signed(rule.right)
        difference = language.sum([(False, left), (True, right)])
        limit = repr(rule.tolerance)
        if rule.relative:
            limit += f" + {rule.relative!r} * np.abs({left.text})"
        return f"np.abs({difference.text}) > {limit}"
    if isinstance(rule, RangeRule):
        ends = [(rule.low, "<"), (rule.high, ">")]
        return " | ".join(f"({first} {sign} {end!r})" for end, sign in ends if end is not None)
    if isinstance(rule, SignRule):
        return f"{first} {'<' if rule.sign > 0 else '>'} 0.0"
    if isinstance(rule, IntegerRule):
        return f"({first} != {first}.round()) & {first}.notna()"
    if isinstance(rule, OrderRule):
        return f"{first} > {language.name(rule.columns[1])}"
    assert isinstance(rule, CodesRule)
    return f"~{first}.isin({list(rule.codes)!r}) & {first}.notna()"


def expectations_text(rules: Sequence[Rule], columns: Sequence[str]) -> str:
    """Return an expectation suite of Great Expectations as JSON.

    Parameters
    ----------
    rules : sequence of Rule
    columns : sequence of str
    """
    expectations = [_exist(name) for name in columns] + [_expectation(rule) for rule in rules]
    suite = {
        "name": "rules",
        "expectations": expectations,
        "meta": {"written_by": f"vanishing {__version__}"},
    }
    return json.dumps(suite, indent=1) + "\n"


def _exist(name: str) -> dict:
    return {"type": "expect_column_to_exist", "kwargs": {"column": name}, "meta": {}}


def _expectation(rule: Rule) -> dict:
    kind, kwargs = _of_kind(rule)
    return {"type": kind, "kwargs": kwargs, "meta": {"rule": str(rule)}}


def _of_kind(rule: Rule) -> tuple[str, dict]:
    """Return the kind of an expectation, and its arguments."""
    name = rule.columns[0]
    between = "expect_column_values_to_be_between"
    if isinstance(rule, RangeRule):
        return between, {"column": name, "min_value": rule.low, "max_value": rule.high}
    if isinstance(rule, SignRule):
        return between, {"column": name, f"{'min' if rule.sign > 0 else 'max'}_value": 0.0}
    if isinstance(rule, CodesRule):
        return "expect_column_values_to_be_in_set", {"column": name, "value_set": list(rule.codes)}
    if isinstance(rule, OrderRule):
        return "expect_column_pair_values_a_to_be_greater_than_b", {
            "column_A": rule.columns[1],
            "column_B": name,
            "or_equal": True,
            "ignore_row_if": "either_value_is_missing",
        }
    # Curly brackets stand for parts of the query there.
    condition = rule.condition(SQL(rule.columns)).replace("{", "{{").replace("}", "}}")
    return "unexpected_rows_expectation", {
        "unexpected_rows_query": f"SELECT * FROM {{batch}} WHERE NOT ({condition})"
    }
