"""Forms: curves that people fit every day, as expressions with constants anywhere, and a name.

Laws are such curves; equations of motion have them as terms.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from vanishing.algebra.derivatives import Differentiable
from vanishing.algebra.equations import degree_in
from vanishing.algebra.expressions import (
    Apply,
    Column,
    Node,
    Number,
    Product,
    Sum,
    columns_of,
    in_new_columns,
    parts_of,
    product,
    total,
)
from vanishing.algebra.syntax import TextReader, Token, tokens
from vanishing.checks import check_registered

_VARIABLES = ("x", "z")
Values = Mapping[str, float]


class _FormReader(TextReader):
    """Reads a form: x and z are its variables, every other name is a constant."""

    kind = "form"
    any_exponents = True
    misfit = "numbers, names, signs and brackets do not fit together: "

    def __init__(self, text: str, names: Sequence[str]):
        known = {token.text for token in tokens(text) if token.kind == "name"}
        super().__init__(text, names or (_VARIABLES if "z" in known else _VARIABLES[:1]))
        self.constants: list[str] = []
        (self.tree,) = self.sides(1)

    def unknown(self, token: Token) -> Node:
        self.columns[token.name] = place = len(self.names) + len(self.constants)
        self.constants.append(token.name)
        return Column(place)


@dataclass(frozen=True)
class Form:
    """A curve with a name: an expression in x (and z) and constants that are to be fitted.

    Parameters
    ----------
    name : str
        What verdicts call it; that of a user's form is its text.
    text : str
        The target, as an expression in x, z and constants.
    kinds : mapping from str to str
        What each constant that is not linear is, as `vanishing.laws.form_grids` knows them: where
        to look for it. Constants without a kind are looked for as `check_law` does. A linear one
        may be a "slope", which may be zero.
    positive : tuple of str
        Constants that are positive.
    normal : callable, default=None
        Values of constants that say the same, out of some that do: an angle between -pi and pi.
    term : str
        What equations of motion have of a form of the library, times monomials: an expression in x
        and constants. Forms without it are for laws alone.
    domain : {"all", "not negative", "positive"}
        Where x has to be for that.
    own : bool
        Whether it is one of the library.
    variables : tuple of str
        Names of its variables, where these are not x, or x and z.
    counts : bool
        Whether x has to be a column of whole numbers.
    """

    name: str
    text: str
    kinds: Mapping[str, str] = field(default_factory=dict)
    positive: tuple[str, ...] = ()
    normal: Callable[[dict[str, float]], dict[str, float]] | None = None
    own: bool = True
    variables: tuple[str, ...] = ()
    term: str = ""
    domain: Literal["all", "not negative", "positive"] = "all"
    counts: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"a form is a text such as 'A*x/(K + x)'; got {self.text!r}.")
        if 0 not in columns_of(self._read.tree):
            raise ValueError(f"the form {self.text!r} has no x, which is its variable.")
        if self.n_variables == 2 and 1 not in columns_of(self._read.tree):
            raise ValueError(f"the form {self.text!r} has no z, its second variable.")
        if not self.constants:
            raise ValueError(f"the form {self.text!r} has no constants that could be fitted.")

    @cached_property
    def _read(self) -> _FormReader:
        return _FormReader(self.text, self.variables)

    @property
    def n_variables(self) -> int:
        """How many variables the form has: x, or x and z."""
        return len(self._read.names)

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the constants, in the order in which they occur."""
        return tuple(self._read.constants)

    @property
    def node(self) -> Node:
        """The expression, in the variables and, behind them, the constants."""
        return self._read.tree

    @property
    def has_functions(self) -> bool:
        """Whether it has functions other than powers."""
        return any(isinstance(node, Apply) for node in parts_of(self.node))

    @cached_property
    def value(self) -> Differentiable:
        """The expression with its derivatives."""
        return Differentiable(self.node)

    @cached_property
    def linear(self) -> tuple[int, ...]:
        """Places among the constants of those that the form is linear in, all together."""
        chosen: list[int] = []
        for k in range(len(self.constants)):
            places = frozenset(self.n_variables + i for i in (*chosen, k))
            if degree_in(self.node, places) <= 1:
                chosen.append(k)
        return tuple(chosen)

    @property
    def inner(self) -> tuple[int, ...]:
        """Places of the other constants."""
        return tuple(k for k in range(len(self.constants)) if k not in self.linear)

    @cached_property
    def terms(self) -> tuple["FormTerm", ...]:
        """What equations of motion have of it: nothing of forms that are for laws alone.

        Of a user's form in x these are the parts that its linear constants are factors of, or all
        of it where it has none.
        """
        if self.term:
            read = _FormReader(self.term, self.variables)
            return (FormTerm(read.tree, tuple(self.kinds[name] for name in read.constants)),)
        if self.own or self.n_variables > 1:
            return ()
        if not self.linear:
            return _without_factors(self.node, self.inner)
        parts = (_factor_of(self.node, 1 + k) for k in self.linear)
        return tuple(term for part in parts for term in _without_factors(part, self.inner))

    def written(self, variables: Sequence[str], constants: Mapping[str, str]) -> str:
        """Return the text with other expressions for x and z, and other names of constants."""
        known = dict(zip(self._read.names, variables, strict=True)) | dict(constants)
        parts, end = [], 0
        for token in tokens(self.text):
            if token.kind == "name" and token.text in known and token.start is not None:
                parts += [self.text[end : token.start], known[token.text]]
                end = token.start + len(token.text)
        return "".join([*parts, self.text[end:]])


class FormTerm(NamedTuple):
    """A term of equations of motion: an expression in x and, behind it, constants.

    Attributes
    ----------
    node : Node
    kinds : tuple of str
        Of the constants: "any" where nothing is known.
    """

    node: Node
    kinds: tuple[str, ...]


def _factor_of(node: Node, place: int) -> Node:
    """Return what a variable is multiplied by, in an expression that is linear in it."""
    match node:
        case Sum(parts=parts):
            return total([_factor_of(part, place) for part in parts if place in columns_of(part)])
        case Product(parts=parts):
            return product(*(_factor_of(p, place) if place in columns_of(p) else p for p in parts))
    return Number(1.0)


def _without_factors(node: Node, inner: Sequence[int]) -> tuple[FormTerm, ...]:
    """Return an expression in x and constants as a term, if it has constants.

    Those that do no more than multiply it, as A in 10^(A - B/x) does, are 1: a term has a
    coefficient.
    """
    generator = np.random.default_rng(0)
    values = generator.uniform(0.5, 2.0, size=(2 + max(inner, default=0), 1))
    columns = [generator.uniform(0.5, 2.0, size=8), *values[1:]]
    places = [1 + k for k in inner if 1 + k in columns_of(node)]
    with np.errstate(all="ignore"):
        value, slopes = Differentiable(node).value_and_gradient(columns, places)
        shares = [np.broadcast_to(slope / value, 8) for slope in slopes]
    kept = [p for p, share in zip(places, shares, strict=True) if not np.ptp(share) <= 1e-9]
    if not kept:
        return ()
    new: dict[int, Node] = {p: Column(1 + i) for i, p in enumerate(kept)}
    tree = in_new_columns(node, lambda p: Column(0) if p == 0 else new.get(p, Number(1.0)))
    return (FormTerm(tree, ("any",) * len(kept)),)


def _angle(f: float) -> float:
    """Return an angle between -pi and pi."""
    return float(np.pi - (np.pi - f) % (2 * np.pi))


def _wave(values: dict[str, float]) -> dict[str, float]:
    """Return a wave with a positive frequency and amplitude, and its phase between -pi and pi."""
    amplitude, w, f = values["A"], values["w"], values["f"]
    f = f if w > 0 else -f
    f = f if amplitude > 0 else f + np.pi
    return values | {"A": abs(amplitude), "w": abs(w), "f": _angle(f)}


def _turned(*names: str) -> Callable[[dict[str, float]], dict[str, float]]:
    """Return what changes the signs of some constants together, so that the last is positive."""

    def normal(values: dict[str, float]) -> dict[str, float]:
        if values[names[-1]] >= 0.0:
            return values
        return values | {name: -values[name] for name in names}

    return normal


def _ordered(values: dict[str, float]) -> dict[str, float]:
    """Return two exponentials, the faster one first."""
    if values["k"] >= values["l"]:
        return values
    return values | {"A": values["B"], "k": values["l"], "B": values["A"], "l": values["k"]}


_WIDTH = _turned("w")
_GAUSS = {"m": "place", "s": "width"}
_PEAK = {"m": "place", "w": "width"}
_OSCILLATION = {"w": "frequency", "f": "phase"}
_LIBRARY = (
    Form("exponential decay", "A*exp(-k*x)", {"k": "rate"}, ("k",), term="exp(-k*x)"),
    Form("exponential growth", "A*exp(k*x)", {"k": "rate"}, ("k",)),
    Form("exponential approach to a level", "c + A*exp(-k*x)", {"k": "rate"}, ("k",)),
    Form("exponential growth above a level", "c + A*exp(k*x)", {"k": "rate"}, ("k",)),
    Form("doubling above a level", "c + A*2^x", counts=True),
    Form("saturating exponential", "A*(1 - exp(-k*x))", {"k": "rate"}, ("k",)),
    Form(
        "sum of two exponentials",
        "A*exp(-k*x) + B*exp(-l*x)",
        {"k": "fast rate", "l": "slow rate"},
        ("k", "l"),
        _ordered,
    ),
    Form(
        "Michaelis-Menten saturation",
        "V*x/(K + x)",
        {"K": "size"},
        ("K",),
        term="1/(x + K)",
        domain="not negative",
    ),
    Form("Michaelis-Menten saturation above a level", "c + V*x/(K + x)", {"K": "size"}, ("K",)),
    Form(
        "Hill equation",
        "V*x^n/(K^n + x^n)",
        {"K": "size", "n": "order"},
        ("K", "n"),
        term="1/(x^2 + K^2)",
    ),
    Form(
        "Hill equation above a level",
        "c + V*x^n/(K^n + x^n)",
        {"K": "size", "n": "order"},
        ("K", "n"),
    ),
    Form(
        "logistic growth",
        "A/(1 + exp(-k*(x - m)))",
        {"k": "steepness", "m": "place"},
        term="1/(1 + exp(k*(x - m)))",
    ),
    Form("Gompertz growth", "A*exp(-exp(-k*(x - m)))", {"k": "steepness", "m": "place"}),
    Form("tanh step", "c + A*tanh((x - m)/w)", _PEAK, ("w",), _turned("A", "w")),
    Form("tanh saturation", "A*tanh(k*x)", {"k": "rate"}, ("k",), _turned("A", "k")),
    Form("arctan step", "c + A*arctan((x - m)/w)", _PEAK, ("w",), _turned("A", "w")),
    Form("Gaussian peak", "A*exp(-(x - m)^2/(2*s^2))", _GAUSS, ("s",), _turned("s")),
    Form(
        "Gaussian peak above a level",
        "c + A*exp(-(x - m)^2/(2*s^2))",
        _GAUSS,
        ("s",),
        _turned("s"),
    ),
    Form("Lorentzian peak", "A/(1 + ((x - m)/w)^2)", _PEAK, ("w",), _WIDTH),
    Form("Lorentzian peak above a level", "c + A/(1 + ((x - m)/w)^2)", _PEAK, ("w",), _WIDTH),
    Form("power law", "A*x^p", {"p": "exponent"}, term="x^p", domain="positive"),
    Form("power law above a level", "c + A*x^p", {"p": "exponent"}),
    Form("power law with a cutoff", "A*x^p*exp(-k*x)", {"p": "exponent", "k": "rate"}, ("k",)),
    Form("logarithm", "A*log(1 + b*x)", {"b": "rate"}, ("b",)),
    Form("logarithmic law", "c + A*log(x)"),
    Form("logarithmic law with a trend", "c + A*log(x) + b*x"),
    Form("logarithm above a level", "c + A*log(x + b)", {"b": "shift"}),
    Form("Arrhenius law", "A*exp(-E/x)", {"E": "energy"}),
    Form("Arrhenius law with a power", "A*x^p*exp(-E/x)", {"p": "exponent", "E": "energy"}),
    Form("oscillation", "A*cos(w*x + f)", _OSCILLATION, normal=_wave, term="sin(w*x)"),
    Form("oscillation about a level", "c + A*cos(w*x + f)", _OSCILLATION, normal=_wave),
    Form(
        "damped oscillation",
        "A*exp(-k*x)*cos(w*x + f)",
        {"k": "damping", **_OSCILLATION},
        ("k",),
        _wave,
    ),
    Form("stretched exponential", "A*exp(-(x/T)^b)", {"T": "size", "b": "stretch"}, ("T", "b")),
    Form("Weibull growth", "A*(1 - exp(-(x/T)^b))", {"T": "size", "b": "stretch"}, ("T", "b")),
    Form("Planck's law", "A*x^3/(exp(b*x) - 1)", {"b": "rate"}, ("b",)),
    Form("Lennard-Jones potential", "4*e*((s/x)^12 - (s/x)^6)", {"s": "size"}, ("s",)),
    Form("Morse potential", "D*(1 - exp(-a*(x - m)))^2", {"a": "steepness", "m": "place"}, ("a",)),
    Form("hyperbola", "sqrt(a + b*x^2)", {"a": "square", "b": "slope of squares"}),
    Form("line with a break", "a + b*x + c*abs(x - d)", {"b": "slope", "d": "inner place"}),
)
# Forms that the search tries, by their names: the one registry.
FORMS: dict[str, Form] = {form.name: form for form in _LIBRARY}
_OWN = frozenset(FORMS)


_EXPONENTS = "pqrstuvwabcdefgh"


def power_law(n_variables: int) -> Form:
    """Return the product of powers of so many variables, with any exponents."""
    names = tuple(f"x{i}" for i in range(n_variables))
    powers = (f"{name}^{p}" for name, p in zip(names, _EXPONENTS, strict=False))
    return Form("power law", f"A*{'*'.join(powers)}", variables=names)


def logarithmic_law(n_variables: int) -> Form:
    """Return the sum of a constant and multiples of the logarithms of so many variables."""
    names = tuple(f"x{i}" for i in range(n_variables))
    parts = (f"{p}*log({name})" for name, p in zip(names, _EXPONENTS, strict=False))
    return Form("logarithmic law", f"c + {' + '.join(parts)}", variables=names)


def times_power(form: Form) -> Form:
    """Return a form of one variable times a power of a second one, with any exponent."""
    power = next(p for p in _EXPONENTS if p not in form.constants)
    text = f"z^{power}*({form.text})"
    kinds = {**form.kinds, power: "exponent"}
    name = f"{form.name} times a power"
    return Form(name, text, kinds, form.positive, form.normal, form.own)


def register_form(name: str, text: str) -> None:
    """Make all searches from now on try a curve of your own, besides those of the library.

    ``LawFinder`` tries it as a law, and ``EquationsOfMotion`` as a term, if it is in x alone.

    Parameters
    ----------
    name : str
        What verdicts call it.
    text : str
        The target as an expression in x, a column or a combination of columns that matters, and
        maybe z, a second one. Every other name is a constant that is fitted.

    Raises
    ------
    ValueError
        If the text cannot be read, or there is a form of this name.

    See Also
    --------
    unregister_form : Try it no more.
    vanishing.LawFinder : Its parameter ``forms`` has forms for one search.
    vanishing.EquationsOfMotion : So does its parameter ``forms``.

    Examples
    --------
    >>> import numpy as np
    >>> import vanishing
    >>> vanishing.laws.register_form("Antoine equation", "10^(A - B/(x + C))")
    >>> vanishing.laws.unregister_form("Antoine equation")
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a form must be a text; got {name!r}.")
    if name in FORMS:
        raise ValueError(f"there is a form {name!r} already: choose another name.")
    FORMS[name] = Form(name, text, own=False)


def unregister_form(name: str) -> None:
    """Stop trying a form.

    Parameters
    ----------
    name : str
        As it was given to `register_form`.

    Raises
    ------
    ValueError
        If no form of yours has the name.

    See Also
    --------
    register_form : Try a form.
    """
    check_registered("form", name, FORMS, _OWN)
    del FORMS[name]


def given_forms(forms: Iterable[str] | None, functions: object) -> tuple[Form, ...]:
    """Return the forms of a search.

    Parameters
    ----------
    forms : iterable of str, or None
        The user's, which are tried first; an empty one for no forms at all.
    functions : object
        As estimators have it: only "auto" tries the forms of the registry.
    """
    if isinstance(forms, str):
        raise TypeError(f"forms must be a list of texts: write [{forms!r}].")
    given = tuple(Form(f"form {text}", text, own=False) for text in forms or ())
    none = forms is not None and not given
    is_auto = isinstance(functions, str) and functions == "auto"
    own = () if none or not is_auto else tuple(FORMS.values())
    return (*given, *own)
