"""Models as the source of one C function."""

import re
from collections.abc import Callable
from functools import cache
from typing import ClassVar

import numpy as np

from vanishing._version import __version__
from vanishing.algebra.programs import C, is_c_name
from vanishing.algebra.writing import Written, printable
from vanishing.export.computation import Computation, Value, in_order
from vanishing.export.models import computation_of
from vanishing.export.notation import ELEMENTWISE, Notation, wrapped
from vanishing.export.python import function_name

_WIDTH = 92  # of a line of numbers
_STRAIGHT = 60  # products that are written one by one; a loop is over a table
_INDENT = "    "
_OUTPUTS = {
    "classifier": "decision",
    "detector": "decision",
    "transformer": "features",
    "motion": "slopes",
}
_UNKNOWN = {"classifier": "return -1;", "detector": "return 0;"}  # of a row with NaN

Entry = Callable[[str], Written]  # from an index to an entry of a vector


def to_c(model: object, name: str | None = None) -> str:
    """Write a fitted model as the source of one C function.

    It is plain C99 (and C++) that needs ``math.h`` alone, allocates nothing and may be called by
    several threads. It computes in double precision what the model does for one row.

    Parameters
    ----------
    model : estimator, Pipeline or Law
        As `to_python` takes it.
    name : str, default=None
        Name of the function, by default that of `to_python`.

    Returns
    -------
    source : str
        Of a function of ``const double *x``, the row, whose columns a comment names. Of a
        classifier, ``int predict(const double *x, double *decision)`` returns the place of the
        predicted class, which a comment names too. It writes the decision values (one of two
        classes, else one per class) unless ``decision`` is a null pointer. Of a detector, it
        returns -1 for an outlier and 1 for another row, and writes the decision value. Of a
        transformer, ``void transform(const double *x, double *features)`` writes the features. Of a
        law, ``double predict(const double *x)`` returns the prediction, or ``residual`` a number
        that is zero if the law holds. Of equations of motion, ``void derivatives(const double *x,
        double *slopes)`` writes the derivative of each column. Where a column is NaN all values
        are, no class is predicted (-1), and a row is neither an outlier nor not (0).

    See Also
    --------
    to_python : Source of a Python module that needs NumPy alone.
    to_sql : Expression of SQL over the columns of a table.
    to_onnx : ONNX graph of standard operators.

    Examples
    --------
    >>> from vanishing import OAVI
    >>> from vanishing.export import to_c
    >>> model = OAVI(psi=0).fit([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    >>> print(to_c(model, "line"))
    /* A fitted OAVI, written by vanishing ...
    <BLANKLINE>
    void line(const double *x, double *features)
    {
    ...
    """
    computation = computation_of(model)
    name = function_name(computation) if name is None else name
    if not is_c_name(name) or name in _OUTPUTS.values():
        raise ValueError(f"name must be a name that a function may have in C; got {name!r}.")
    if not computation.names:
        raise ValueError("the model has no generators, so that there is nothing to export.")
    output = next(iter(computation.outputs.values()))
    source = _CSource()
    entry = source.vector(output)
    end = _end(computation, output, entry)  # which may need one more table
    if not source.reads_row:
        end.insert(0, "(void)x;  /* it says the same of every row */")
    lines = [*_start(computation, name), *source.lines, *end]
    return "\n".join(
        [
            *_heading(computation),
            "#include <math.h>",
            "",
            *lines[:2],
            *(f"{_INDENT}{line}" for line in lines[2:]),
            "}",
            "",
        ]
    )


def _heading(computation: Computation) -> list[str]:
    lines = [f"A fitted {computation.title}, written by vanishing {__version__}.", "", "Columns:"]
    lines += [f"    x[{i}]  {name!r}" for i, name in enumerate(computation.columns)]
    if computation.kind == "motion":
        lines += ["Derivatives:"]
        lines += [f"    slopes[{i}]  {name!r}" for i, name in enumerate(computation.names)]
    if computation.classes is not None:
        lines += ["Classes:"]
        lines += [f"    {i}  {label!r}" for i, label in enumerate(computation.classes.tolist())]
    return _comment(lines)


def _comment(lines) -> list[str]:
    """Return a comment that no text can end, or carry beyond its line."""
    safe = []
    for line in lines:
        text = printable(line).encode("ascii", "backslashreplace").decode("ascii")
        text = re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", text).rstrip()
        safe.append(text + "." if text.endswith("\\") else text)
    first, *rest = safe
    comment = [f"/* {first}", *(f"   {line}".rstrip() for line in rest)]
    return [*comment[:-1], f"{comment[-1]} */"]


def _start(computation: Computation, name: str) -> list[str]:
    """Return how the function begins."""
    kind, n = computation.kind, len(computation.columns)
    if kind == "law":
        return [f"double {name}(const double *x)", "{"]
    out, width = _OUTPUTS[kind], len(computation.names)
    result = "int" if kind in _UNKNOWN else "void"
    unknown = _UNKNOWN.get(kind, "return;")
    written = f"for (int j = 0; j < {width}; j++) {out}[j] = NAN;"
    if kind in _UNKNOWN:
        written = f"if ({out}) {written}"
    return [
        f"{result} {name}(const double *x, double *{out})",
        "{",
        f"for (int i = 0; i < {n}; i++) {{",
        "    if (x[i] == x[i]) continue;  /* not NaN */",
        f"    {written}",
        f"    {unknown}",
        "}",
    ]


def _end(computation: Computation, output: Value, entry: Entry) -> list[str]:
    """Return how the function ends: by writing and returning the output."""
    if computation.kind == "law":
        return [f"return {entry('0').text};"]
    out = _OUTPUTS[computation.kind]
    write = f"for (int i = 0; i < {output.width}; i++) {out}[i] = {entry('i').text};"
    if output.width == 1:
        write = f"{out}[0] = {entry('0').text};"
    if computation.kind not in _UNKNOWN:
        return [write]
    write = f"if ({out}) {write}"
    if computation.kind == "detector":
        return [write, f"return {entry('0').text} < 0.0 ? -1 : 1;"]
    if output.width == 1:
        return [write, f"return {entry('0').text} > 0.0;"]
    return [
        write,
        "int best = 0;",
        f"for (int i = 1; i < {output.width}; i++)",
        f"    if ({entry('i').text} > {entry('best').text}) best = i;",
        "return best;",
    ]


class _CSource(Notation, C):
    """The body of a function as it grows: tables, and a loop or a number for each vector."""

    choices: ClassVar[dict[str, str]] = {
        "minimum": "fmin({0}, {1})",
        "maximum": "fmax({0}, {1})",
        "clip": "fmin(fmax({0}, {1}), {2})",
        "zero_below": "({0} < {1} ? 0.0 : {0})",
        "choose": "({0} < 0.0 ? {1} : {2})",
    }

    def __init__(self):
        super().__init__(())
        self.lines: list[str] = []
        self.known: dict[int, Entry] = {}
        self.n_names = 0
        self.reads_row = False

    def vector(self, output: Value) -> Entry:
        """Write all that a vector needs; return how its entries are written."""
        values, used = in_order([output], self.times_written)
        read_often = {
            id(value.inputs[0])
            for value in values
            if (value.operation == "linear" and value.width > 1) or value.operation == "nearest"
        }
        for value in values:
            is_written_often = used[id(value)] > 1 or id(value) in read_often
            if value.notes:
                self.lines += _comment(value.notes)
            if value.operation in ELEMENTWISE:
                entry = self._elementwise(value)
                if value.notes or is_written_often or value is output:
                    entry = self._stored(value.width, entry)
            else:
                entry = getattr(self, f"_{value.operation}")(value)
            self.known[id(value)] = entry
        return self.known[id(output)]

    def times_written(self, value: Value) -> int:
        """Return how often the text of an operation holds that of its input."""
        return 2 if value.operation == "quantiles" else super().times_written(value)

    # -- Entry by entry ---------------------------------------------------------------------------

    def _elementwise(self, value: Value) -> Entry:
        inputs = [(self.known[id(part)], part.width) for part in value.inputs]
        tables = {key: self._table(value.data[key]) for key in value.data if key in ("low", "high")}

        def entry(i: str) -> Written:
            operands = [known("0" if width == 1 else i) for known, width in inputs]
            return self.entry(value, operands, lambda key: tables[key](i))

        return entry

    # -- Other operations -------------------------------------------------------------------------

    def _columns(self, value: Value) -> Entry:
        def entry(i: str) -> Written:
            self.reads_row = True
            return Written(f"x[{i}]")

        return entry

    def _constant(self, value: Value) -> Entry:
        return self._table(value.data["values"])

    def _take(self, value: Value) -> Entry:
        places = value.data["places"]
        known = self.known[id(value.inputs[0])]
        if value.width and (places == places[0]).all():
            return lambda i: known(str(places[0]))
        table = self._when_used("int", places)
        return lambda i: known(str(places[int(i)]) if i.isdigit() else f"{table()}[{i}]")

    def _join(self, value: Value) -> Entry:
        name = self._name("v")
        self.lines.append(f"double {name}[{value.width}];")
        start = 0
        for part in value.inputs:
            known = self.known[id(part)]
            if part.width == 1:
                self.lines.append(f"{name}[{start}] = {known('0').text};")
            elif part.width:
                place = f"{start} + i" if start else "i"
                loop = f"for (int i = 0; i < {part.width}; i++)"
                self.lines.append(f"{loop} {name}[{place}] = {known('i').text};")
            start += part.width
        return lambda i: Written(f"{name}[{i}]")

    def _linear(self, value: Value) -> Entry:
        matrix, offset = value.data["matrix"], value.data["offset"]
        known = self.known[id(value.inputs[0])]
        if np.count_nonzero(matrix) <= _STRAIGHT:
            pairs = zip(matrix, offset, strict=True)
            return self._written(
                [self.weighted_sum(*pair, lambda j: known(str(j))) for pair in pairs]
            )
        name = self._name("v")
        rows, places = np.nonzero(matrix)
        start = self._table(offset)("i").text
        if 2 * len(rows) > matrix.size or matrix.shape[1] == 1:
            inner, place, coef = f"for (int j = 0; j < {matrix.shape[1]}; j++)", "j", ""
            if (matrix != 1.0).any():
                coef = f"{self._numbers('double', matrix.ravel())}[i * {matrix.shape[1]} + j]"
        else:
            ends = self._numbers("int", np.searchsorted(rows, np.arange(len(matrix) + 1)))
            place = self._numbers("int", places) + "[j]"
            coef = self._numbers("double", matrix[rows, places]) + "[j]"
            inner = f"for (int j = {ends}[i]; j < {ends}[i + 1]; j++)"
        product = f"{coef} * {known(place).atom}" if coef else known(place).text
        self.lines += [
            f"double {name}[{value.width}];",
            f"for (int i = 0; i < {value.width}; i++) {{",
            f"    double sum = {start};",
            f"    {inner} sum += {product};",
            f"    {name}[i] = sum;",
            "}",
        ]
        return lambda i: Written(f"{name}[{i}]")

    def _nearest(self, value: Value) -> Entry:
        """Compare an entry with all rows of a group."""
        groups = value.data["groups"]
        n_groups, n_rows, width = groups.shape
        known, name = self.known[id(value.inputs[0])], self._name("v")
        rows = self._numbers("double", groups.ravel())
        self.lines += [
            f"double {name}[{n_groups}];",
            f"for (int i = 0; i < {n_groups}; i++) {{",
            "    double least = INFINITY;",
            f"    for (int k = i * {n_rows}; k < (i + 1) * {n_rows}; k++) {{",
            "        double sum = 0.0;",
            f"        for (int j = 0; j < {width}; j++) {{",
            f"            const double d = {known('j').atom} - {rows}[k * {width} + j];",
            "            sum += d * d;",
            "        }",
            f"        if (sum >= {value.data['equal']!r}) least = fmin(least, sum);",
            "    }",
            f"    {name}[i] = isinf(least) ? 0.0 : least;",
            "}",
        ]
        return lambda i: Written(f"{name}[{i}]")

    def _quantiles(self, value: Value) -> Entry:
        """Search for the place of each entry among its knots, by halves."""
        steps = value.data["steps"]
        known, name = self.known[id(value.inputs[0])], self._name("v")
        ends = self._numbers("int", np.cumsum([0, *(len(column.knots) for column in steps)]))
        knots, base, at, start, slope = (
            self._numbers("double", np.concatenate(parts)) for parts in zip(*steps, strict=True)
        )
        self.lines += [
            f"double {name}[{value.width}];",
            f"for (int i = 0; i < {value.width}; i++) {{",
            f"    const double t = {known('i').text};",
            f"    int low = {ends}[i], high = {ends}[i + 1];",
            "    while (low < high) {",
            "        const int middle = (low + high) / 2;",
            f"        if ({knots}[middle] <= t) low = middle + 1;",
            "        else high = middle;",
            "    }",
            "    low += i;  /* there is one line more than there are knots */",
            f"    {name}[i] = {start}[low] + (t - {base}[low]) * {slope}[low];",
            f"    if (t == {base}[low]) {name}[i] = {at}[low];",
            "}",
        ]
        return lambda i: Written(f"{name}[{i}]")

    # -- Names ------------------------------------------------------------------------------------

    def _name(self, letter: str) -> str:
        self.n_names += 1
        return f"{letter}{self.n_names}"

    def _stored(self, width: int, entry: Entry) -> Entry:
        """Store a vector under a name."""
        if width == 1:
            return self._written([entry("0")])
        name = self._name("v")
        self.lines += [
            f"double {name}[{width}];",
            f"for (int i = 0; i < {width}; i++) {name}[i] = {entry('i').text};",
        ]
        return lambda i: Written(f"{name}[{i}]")

    def _written(self, texts: list[Written]) -> Entry:
        """Store a vector whose entries are written one by one."""
        name = self._name("v")
        if len(texts) == 1:
            self.lines.append(f"const double {name} = {texts[0].text};")
            return lambda i: Written(name)
        self.lines.append(f"double {name}[{len(texts)}];")
        self.lines += [f"{name}[{i}] = {text.text};" for i, text in enumerate(texts)]
        return lambda i: Written(f"{name}[{i}]")

    def _table(self, values: np.ndarray) -> Entry:
        """Return numbers, one for each entry; one number where all are the same."""
        if (values == values[0]).all():
            return lambda i: self.literal(values[0])
        table = self._when_used("double", values)
        return lambda i: self.literal(values[int(i)]) if i.isdigit() else Written(f"{table()}[{i}]")

    def _when_used(self, kind: str, values: np.ndarray) -> Callable[[], str]:
        """Return a function that returns the name of a table, which it writes when called first."""
        return cache(lambda: self._numbers(kind, values))

    def _numbers(self, kind: str, values: np.ndarray) -> str:
        """Write a table; return its name."""
        name = self._name("c")
        lines = wrapped(map(repr, values.tolist()), _WIDTH)
        lines[-1] = lines[-1].rstrip(",")
        head = f"static const {kind} {name}[{len(values)}] = {{"
        if len(lines) == 1 and len(head) + len(lines[0]) <= _WIDTH:
            self.lines.append(f"{head}{lines[0]}}};")
        else:
            self.lines += [head, *(f"    {line}" for line in lines), "};"]
        return name
