"""Units of measurement: read by pint, multiplied, compared and written without it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from tokenize import TokenError
from typing import NamedTuple

import numpy as np

from vanishing.checks import install

_SAME = 1e-9  # relative difference of factors, and difference of exponents, that are rounding
_BASE = {
    "mass": "kg",
    "length": "m",
    "time": "s",
    "current": "A",
    "substance": "mol",
    "temperature": "K",
    "luminosity": "cd",
}
# Units of the SI with names of their own, by exponents of kg, m, s and A.
_DERIVED = {
    "N": (1, 1, -2, 0),
    "J": (1, 2, -2, 0),
    "W": (1, 2, -3, 0),
    "Pa": (1, -1, -2, 0),
    "C": (0, 0, 1, 1),
    "V": (1, 2, -3, -1),
    "Ω": (1, 2, -3, -2),
    "F": (-1, -2, 4, 2),
    "T": (1, 0, -2, -1),
    "Wb": (1, 2, -2, -1),
    "H": (1, 2, -2, -2),
}
_LONGEST = 80  # characters of a unit
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*\*?\s*(.*)", re.DOTALL)
# What is not passed on to pint: powers of powers, and exponents of three digits.
_UNSAFE = re.compile(r"[^\w\s*/^().·%°+-]|\d{3}|(\*\*|\^)[^*/\s]*(\*\*|\^)|__")


@dataclass(frozen=True)
class Unit:
    """A product of powers of named units.

    Parameters
    ----------
    parts : tuple of (str, float)
        Symbols and exponents, as given.
    factor : float
        How many of the SI's unit of this dimension one of it is.
    dimension : tuple of (str, float)
        Base quantities and exponents, sorted.
    """

    parts: tuple[tuple[str, float], ...] = ()
    factor: float = 1.0
    dimension: tuple[tuple[str, float], ...] = ()

    def __mul__(self, other: "Unit") -> "Unit":
        parts = _merged(self.parts, other.parts)
        dimension = _merged(self.dimension, other.dimension)
        return Unit(parts, self.factor * other.factor, tuple(sorted(dimension)))

    def __truediv__(self, other: "Unit") -> "Unit":
        return self * other**-1.0

    def __pow__(self, exponent: float) -> "Unit":
        parts, dimension = (
            _merged((name, e * exponent) for name, e in pairs)
            for pairs in (self.parts, self.dimension)
        )
        return Unit(parts, self.factor**exponent, dimension)

    @property
    def is_one(self) -> bool:
        """Whether numbers in this unit are pure numbers."""
        return not self.dimension and abs(self.factor - 1.0) < _SAME

    def __str__(self) -> str:
        return written(_shortest(self))

    def behind(self, number: str) -> str:
        """Write the unit behind a number, as in a sentence."""
        return number if self.is_one else f"{number} {self}"

    def to_latex(self) -> str:
        """Write the unit in LaTeX, upright."""
        symbols = {"Ω": r"\Omega", "%": r"\%", "°": r"^{\circ}"}
        return r" \, ".join(
            rf"\mathrm{{{symbols.get(s, _escaped(s))}}}"
            + ("" if e == 1 else f"^{{{_exponent(e)}}}")
            for s, e in _shortest(self)
        )


ONE = Unit()


def _merged(*pairs: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Return names with the sums of their exponents, but those that cancel."""
    total: dict[str, float] = {}
    for part in pairs:
        for name, exponent in part:
            total[name] = total.get(name, 0.0) + exponent
    return tuple((name, e) for name, e in total.items() if abs(e) > _SAME)


def _escaped(symbol: str) -> str:
    return "".join(rf"\{c}" if c in "&%$#_{}" else c for c in symbol)


def _exponent(exponent: float) -> str:
    return str(Fraction(exponent).limit_denominator(12))


def written(parts: Iterable[tuple[str, float]], times: str = " ") -> str:
    """Write a product of powers: J/(mol K)."""

    def power(name, exponent):
        text = _exponent(exponent)
        return name if text == "1" else f"{name}^({text})" if "/" in text else f"{name}^{text}"

    parts = list(parts)
    above = [power(name, e) for name, e in parts if e > 0]
    below = [power(name, -e) for name, e in parts if e < 0]
    over = times.join(above) or "1"
    if not below:
        return over
    return f"{over}/{below[0]}" if len(below) == 1 else f"{over}/({times.join(below)})"


# -- The shortest way to write a unit -------------------------------------------------------------


@cache
def _shortest(unit: Unit) -> tuple[tuple[str, float], ...]:
    """Return symbols and exponents: as given, or shorter ones of the SI where these are the same.

    A derived unit counts as much as two base units, so that an acceleration is in m/s^2 rather
    than in N/kg, and R in J/(mol K).
    """
    as_read = _above_first(unit.parts)
    if unit.is_one:
        return ()
    if abs(unit.factor - 1.0) > _SAME or not {name for name, _ in unit.dimension} <= set(_BASE):
        return as_read

    def cost(parts):
        return sum(abs(e) * (1 if s in _BASE.values() else 2) for s, e in parts)

    dimension = dict(unit.dimension)
    left = np.array([dimension.get(name, 0.0) for name in _BASE])
    best = as_read
    for chosen in _products():
        rest = left.copy()
        for symbol, exponent in chosen:
            rest[:4] -= exponent * np.array(_DERIVED[symbol])
        base = [(s, float(e)) for s, e in zip(_BASE.values(), rest, strict=True) if abs(e) > _SAME]
        parts = (*chosen, *base)
        if cost(parts) < cost(best) - _SAME:
            best = parts
    return _above_first(best)


def _above_first(parts) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(parts, key=lambda part: part[1] < 0))


@cache
def _products() -> list[tuple[tuple[str, float], ...]]:
    """Return products of at most two derived units, those of fewer first."""
    single = [((s, float(e)),) for s in _DERIVED for e in (1, -1, 2, -2)]
    double = [
        ((a, float(i)), (b, float(j)))
        for a, b in combinations(_DERIVED, 2)
        for i in (1, -1)
        for j in (1, -1)
    ]
    return [(), *single, *double]


# -- Reading --------------------------------------------------------------------------------------


@cache
def _pint():
    try:
        import pint
    except ImportError:
        raise ImportError(f"units need pint: install it with {install('units')}.") from None
    return pint, pint.UnitRegistry()


def read_unit(text: str, of: str) -> Unit:
    """Return a unit by its text, such as ``J/(mol K)``.

    Parameters
    ----------
    text : str
    of : str
        Whose unit it is, for messages.
    """
    pint, registry = _pint()
    if len(text) > _LONGEST or _UNSAFE.search(text):
        raise ValueError(f"{text[:_LONGEST]!r} is no unit ({of}): write it as in 'kg m/s^2'.")
    try:
        parsed = registry.parse_units(text)
        zero, factor, twice = (
            float(registry.Quantity(n, parsed).to_base_units().magnitude) for n in (0.0, 1.0, 2.0)
        )
    except pint.OffsetUnitCalculusError:
        zero, factor, twice = 1.0, 1.0, 1.0
    except pint.UndefinedUnitError as problem:
        raise ValueError(f"{problem} ({of}).") from None
    # What else pint's parser raises on text that is no unit.
    except (pint.PintError, AssertionError, TypeError, ValueError, OverflowError, TokenError):
        raise ValueError(f"{text!r} is no unit ({of}): write it as in 'kg m/s^2'.") from None
    if zero or twice != 2.0 * factor:
        raise ValueError(
            f"the unit {text!r} ({of}) has an origin of its own or is logarithmic, so that laws "
            "have no meaning in it: convert the column, say to kelvin."
        )
    parts = tuple(
        (registry.get_symbol(name), float(e))
        for name, e in registry.Quantity(1.0, parsed).unit_items()
    )
    dimension = [(name.strip("[]"), float(e)) for name, e in parsed.dimensionality.items()]
    return Unit(parts, factor, tuple(sorted((name, e) for name, e in dimension if e)))


class Value(NamedTuple):
    """A constant of nature, or any other value with a name."""

    name: str
    value: float
    unit: Unit


class Units(NamedTuple):
    """The units of columns, and values with names that coefficients may consist of."""

    columns: tuple[Unit, ...]
    values: tuple[Value, ...] = ()

    @property
    def dimensions(self) -> np.ndarray:
        """Exponents of the base quantities, up to products of values; (n_columns, n_base)."""
        units = [*self.columns, *(value.unit for value in self.values)]
        names = sorted({name for unit in units for name, _ in unit.dimension})
        exponents = np.array(
            [[dict(unit.dimension).get(name, 0.0) for name in names] for unit in units]
        )
        columns, values = np.split(exponents, [len(self.columns)])
        if values.any():
            columns = columns - columns @ np.linalg.pinv(values) @ values
        return columns

    def as_values(self, unit: Unit) -> tuple[tuple[Value, float], ...] | None:
        """Return the product of powers of few values that has the dimension of a unit."""
        for size in range(1, min(3, len(self.values)) + 1):
            for chosen in combinations(self.values, size):
                exponents = _exponents_of(unit, [value.unit for value in chosen])
                if exponents is not None and all(exponents):
                    return tuple(zip(chosen, exponents, strict=True))
        return None


def _exponents_of(unit: Unit, units: Sequence[Unit]) -> list[float] | None:
    """Return the exponents of a product of units that has the dimension of another."""
    names = sorted({name for u in (unit, *units) for name, _ in u.dimension})
    wanted, *rows = ([dict(u.dimension).get(n, 0.0) for n in names] for u in (unit, *units))
    if not names:
        return None
    exponents = np.linalg.lstsq(np.array(rows).T, np.array(wanted), rcond=None)[0]
    exponents = np.round(12 * exponents) / 12
    if np.abs(exponents @ np.array(rows) - wanted).max() > _SAME:
        return None
    return exponents.tolist()


def read_units(texts: Mapping[str, str], names: Sequence[str]) -> Units:
    """Return the units of columns.

    Parameters
    ----------
    texts : mapping from str to str
        One unit per column: ``{"F": "N", "angle": "1"}``; and values with a name that is no
        column's: ``{"G": "6.674e-11 m^3/(kg s^2)"}``.
    names : sequence of str
        Of the columns.
    """
    if not isinstance(texts, Mapping):
        raise TypeError(f"units must be a dict from columns to units; got {texts!r}.")
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"the unit of {name!r} must be text such as 'kg m/s^2'; got {text!r}.")
    missing = [repr(name) for name in names if name not in texts]
    if missing:
        raise ValueError(
            f"units has no entry for {', '.join(missing)}; '1' is the unit of pure numbers."
        )
    columns = tuple(read_unit(texts[name], f"column {name!r}") for name in names)
    values = (_value(str(name), text, names) for name, text in texts.items() if name not in names)
    return Units(columns, tuple(values))


def _value(name: str, text: str, names: Sequence[str]) -> Value:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(
            f"units names {name!r}, which is no column; the columns are {', '.join(names)}. A "
            "value with a name needs a number: '9.81 m/s^2'."
        )
    number = float(match[1])
    if not (np.isfinite(number) and number > 0.0):
        raise ValueError(f"the value of {name!r} must be finite and positive; got {text!r}.")
    return Value(name, number, read_unit(match[2], f"value {name!r}"))


def dimensionless_groups(units: Mapping[str, str]) -> list[str]:
    """Return independent products of powers of columns that have no dimension (Buckingham).

    Parameters
    ----------
    units : mapping from str to str
        One unit per column. Numbers in front of units do not matter.

    Returns
    -------
    groups : list of str
        Any other product without dimension is a product of powers of these. Empty where there is
        none.

    See Also
    --------
    vanishing.LawFinder : Laws that use units.

    Examples
    --------
    >>> from vanishing.units import dimensionless_groups
    >>> dimensionless_groups({"T": "s", "l": "m", "m": "kg", "g": "m/s^2"})
    ['T^2*g/l']
    """
    _, registry = _pint()
    dimensions = {}
    for name, text in units.items():
        number = _NUMBER.fullmatch(text)
        unit = read_unit(text if number is None else number[2], repr(name))
        base = {f"[{quantity}]": exponent for quantity, exponent in unit.dimension}
        dimensions[name] = registry.UnitsContainer(base)
    return [
        written([(name, float(group[name])) for name in units if name in group], times="*")
        for group in registry.pi_theorem(dimensions)
    ]
