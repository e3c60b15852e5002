"""Formulas of external suites, as their files write them: read as trees, never run.

Besides what our own parser reads: prefixes of modules (``mp.exp``, ``np.sqrt``), functions under
other names (``asin``, ``neg``, ``cot``, ``pow``), exponents that are columns, and the little LaTeX
of EmpiricalBench.
"""

import re

import numpy as np

from vanishing.algebra.expressions import Column, Node, evaluate
from vanishing.algebra.syntax import TextReader, Token

_MODULES = re.compile(r"\b(?:mpmath|numpy|sympy|math|mp|np|sp)\.(?=[A-Za-z])")
_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atanh": "arctanh", "Abs": "abs"}
_NAMES |= {"asinh": "arcsinh", "acosh": "arccosh"}
# {0} and {1} are the arguments.
_WRITTEN = {"neg": "(-({0}))", "cot": "(1/tan({0}))", "sec": "(1/cos({0}))", "csc": "(1/sin({0}))"}
_WRITTEN |= {"pow": "(({0})^({1}))", "power": "(({0})^({1}))", "square": "(({0})^2)"}
_CALL = re.compile(rf"\b({'|'.join(_WRITTEN)})\s*\(")


class SuiteFormula:
    """A formula in named columns, evaluated in the precision of its columns.

    Parameters
    ----------
    text : str
        As a suite writes it.

    Attributes
    ----------
    text : str
        As our parser reads it.
    names : tuple of str
    """

    def __init__(self, text):
        self.text = plain(str(text))
        reader = _SuiteReader(self.text, [])
        (self._tree,) = reader.sides(1)
        self.names = tuple(reader.names)

    def __call__(self, columns):
        """Evaluate on columns, given by their names."""
        missing = [name for name in self.names if name not in columns]
        if missing:
            raise ValueError(f"the formula {self.text!r} has the unknown name {missing[0]!r}.")
        values = [np.asarray(columns[name]) for name in self.names]
        shape = np.broadcast_shapes(*(np.shape(value) for value in columns.values()))
        with np.errstate(all="ignore"):
            return np.broadcast_to(evaluate(self._tree, values), shape)


class _SuiteReader(TextReader):
    kind = "formula"
    max_length = 20_000
    any_exponents = True

    def unknown(self, token: Token) -> Node:
        self.columns[token.name] = len(self.names)
        self.names.append(token.name)
        return Column(len(self.names) - 1)


def plain(text: str) -> str:
    """Return a formula in the words of our parser."""
    text = _MODULES.sub("", text)
    text = re.sub(r"\b[A-Za-z]+\b", lambda match: _NAMES.get(match[0], match[0]), text)
    while call := _CALL.search(text):
        arguments, end = _arguments(text, call.end())
        try:
            written = _WRITTEN[call[1]].format(*arguments)
        except IndexError:
            raise ValueError(f"{call[1]} has too few arguments in {text!r}.") from None
        text = text[: call.start()] + written + text[end:]
    return text


def _arguments(text: str, start: int) -> tuple[list[str], int]:
    """Return the arguments of a function whose bracket is open, and where it has been closed."""
    depth, pieces, begun = 1, [], start
    for i in range(start, len(text)):
        depth += (text[i] in "([") - (text[i] in ")]")
        if depth == 0:
            return [*pieces, text[begun:i]], i + 1
        if text[i] == "," and depth == 1:
            pieces.append(text[begun:i])
            begun = i + 1
    raise ValueError(f"a bracket is not closed in {text!r}.")


def latex_form(text: str) -> str:
    """Return the right side of an equation in simple LaTeX, its unknown constants named c1, c2, ...

    Examples
    --------
    >>> latex_form(r"\\log(n) = (\\cdot)\\log(x_0) - (\\cdot)x_0 + (\\cdot)")
    '(c1)*log(x_0) - (c2)*x_0 + (c3)'
    """
    text = text.split("=", 1)[-1].strip()
    text = re.sub(r"\\(left|right|,|;|!)", "", text)
    text = text.replace("\\log_{10}", "log10").replace("\\ast", "ast")
    while match := re.search(r"\\frac\s*{([^{}]*)}\s*{([^{}]*)}", text):
        text = f"{text[: match.start()]}(({match[1]})/({match[2]})){text[match.end() :]}"
    text = re.sub(r"\\sqrt\s*{([^{}]*)}", r"sqrt(\1)", text)
    count = iter(range(1, 100))
    text = re.sub(r"\(?\\cdot\)?", lambda _: f"(c{next(count)})", text)
    text = text.replace("{", "(").replace("}", ")")
    text = re.sub(r"\\(?=[A-Za-z])", "", text)
    return _with_products(text)


def _with_products(text: str) -> str:
    """Write the products that stand between factors unwritten."""
    functions = ("log10", "log", "exp", "sqrt", "sin", "cos", "tan", "tanh", "ln")
    # 3log(x) and 2x, but not 2e5.
    text = re.sub(r"(?<![\w.])(\d+(?:\.\d*)?)(?=[A-Za-z](?!(?<=[eE])[+-]?\d))", r"\1 ", text)
    text = re.sub(r"(?<=[\w)])\s*(?=\()", " ", text)  # a bracket behind a factor
    text = re.sub(rf"\b({'|'.join(functions)}) (?=\()", r"\1", text)
    text = re.sub(r"(?<=\))\s*(?=[\w(])", " ", text)
    text = re.sub(r"(?<=[\w)]) +(?=[\w(])", "*", text)
    return re.sub(r"\s+", " ", text).strip()


def freed(text: str) -> str:
    """Return a formula whose numbers with a point are unknown constants."""
    count = iter(range(1, 100))
    return re.sub(
        r"(?<![\w.])\d+\.\d*(?:[eE][+-]?\d+)?(?!\w)", lambda _: f"number{next(count)}", text
    )
