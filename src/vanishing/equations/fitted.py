"""What laws and conserved quantities share: terms with fitted coefficients, written and saved."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from vanishing._types import FloatArray
from vanishing.algebra.expressions import Node, Number, moved, of_term, total
from vanishing.algebra.immutable import Immutable, read_only
from vanishing.algebra.saving import read_term, write_term
from vanishing.algebra.solving import standard_errors
from vanishing.algebra.terms import Term, check_term
from vanishing.algebra.writing import PlainText, is_written_in_full
from vanishing.estimators.saving import Savable


class FittedTerms(Immutable, Savable):
    """Terms in named columns with fitted coefficients and, where known, their covariance.

    Terms are in columns less offsets, which are zero but for columns far from the origin: powers of
    these would be equal in most of their digits.
    """

    kind: ClassVar[str]  # how messages call it

    coef: FloatArray
    coef_std: FloatArray
    covariance: FloatArray | None
    names: tuple[str, ...]
    offsets: tuple[float, ...]
    _terms: tuple[Term, ...]

    def _set_terms(
        self, terms: Sequence[Term], coef, names: Sequence[str], covariance, offsets
    ) -> None:
        """Check and set the terms; raise ValueError unless they fit the coefficients and names."""
        terms, names = tuple(terms), tuple(map(str, names))
        coef, n_terms = np.array(coef, dtype=np.float64), len(terms)
        if coef.shape != (n_terms,) or not n_terms:
            raise ValueError(
                f"a {self.kind} needs one coefficient per term; got {n_terms} and {coef.shape}."
            )
        if not np.isfinite(coef).all():
            raise ValueError(f"the coefficients of a {self.kind} must be finite.")
        if len(set(names)) < len(names):
            raise ValueError(f"two columns of a {self.kind} have the same name: rename them.")
        if covariance is not None:
            covariance = read_only(np.array(covariance, dtype=np.float64, order="C"))
            if covariance.shape != (n_terms, n_terms):
                raise ValueError(
                    f"the covariance of a {self.kind} has one row and one column per term."
                )
        for term in terms:
            check_term(term, len(names), self.kind)
        offsets = np.zeros(len(names)) if offsets is None else np.asarray(offsets, dtype=np.float64)
        if offsets.shape != (len(names),) or not np.isfinite(offsets).all():
            raise ValueError(f"offsets of a {self.kind} are one finite number per column.")
        self._set(
            _terms=terms,
            coef=read_only(coef),
            coef_std=read_only(standard_errors(covariance, n_terms)),
            covariance=covariance,
            names=names,
            offsets=tuple(offsets.tolist()),
        )

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms as text."""
        text = PlainText(self.names)
        return tuple(text.write(moved(of_term(term), self.offsets)) for term in self._terms)

    @property
    def total(self) -> Node:
        """The sum of coefficients times terms, as a tree in the columns by their places."""
        numbers = map(Number, self.coef.tolist(), np.nan_to_num(self.coef_std).tolist())
        return moved(total(list(map(of_term, self._terms, numbers))), self.offsets)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return len(self._terms)

    @property
    def _columns(self) -> set[int]:
        """The columns that occur."""
        return {i for i in range(len(self.names)) if any(t.involves(i) for t in self._terms)}

    def _without_offsets(self, columns: np.ndarray) -> np.ndarray:
        """Return what the terms are in, from columns as they are."""
        if not any(self.offsets):
            return columns
        return columns - np.array(self.offsets)[:, np.newaxis]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        return self.write()

    def write(self, style: str = "text") -> str:
        """Write it in a style, as one of `vanishing.algebra.languages.WRITERS`."""
        raise NotImplementedError

    def to_latex(self) -> str:
        """Write it in LaTeX (without dollar signs)."""
        return self.write("latex")

    def to_mathml(self) -> str:
        """Write it in MathML, which browsers typeset; names of columns are text in it."""
        return self.write("mathml")

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def written_terms(self, writer: Any) -> dict[str, Any]:
        """Return names, terms, coefficients and covariance as JSON values."""
        covariance = self.covariance
        offsets = {"offsets": list(self.offsets)} if any(self.offsets) else {}
        return {
            "names": list(self.names),
            "terms": [write_term(writer, term) for term in self._terms],
            "coef": self.coef.tolist(),
            "covariance": None if covariance is None else writer.array(covariance, "covariance"),
            **offsets,
        }


def with_plain_columns(
    terms: Sequence[Term], coef: np.ndarray, covariance: np.ndarray | None, offsets
) -> dict[str, Any]:
    """Return terms that are in columns as they are, where an offset would only add a constant.

    That is so for a column whose only term is the column itself with an exact coefficient, if the
    constant is one that is written in full.

    Returns
    -------
    parts : dict
        ``terms``, ``coef``, ``covariance`` and ``offsets``, as laws and quantities take them.
    """
    terms, coef, offsets = list(terms), np.array(coef, dtype=np.float64), np.array(offsets)
    std = np.nan_to_num(standard_errors(covariance, len(terms)))
    place = next((j for j, term in enumerate(terms) if term.is_constant), None)
    constant = 0.0 if place is None else float(coef[place])
    for column in np.flatnonzero(offsets).tolist():
        occurring = [j for j, term in enumerate(terms) if term.involves(column)]
        if len(occurring) != 1 or std[occurring[0]]:
            continue
        term = terms[occurring[0]]
        if term.factors or term.degree != 1.0 or term.exponents[column] != 1.0:
            continue
        moved_constant = constant - float(coef[occurring[0]]) * float(offsets[column])
        if is_written_in_full(moved_constant):
            constant, offsets[column] = moved_constant, 0.0
    if place is not None:
        coef[place] = constant
    elif constant:
        terms.append(Term((0.0,) * len(offsets)))
        coef = np.append(coef, constant)
        if covariance is not None:
            covariance = np.pad(covariance, (0, 1))
    return {"terms": terms, "coef": coef, "covariance": covariance, "offsets": offsets}


def read_terms(reader, names, terms, coef, covariance, offsets) -> dict:
    """Return what `FittedTerms.written_terms` has written, by names of parameters."""
    names = reader.names(names, "names", None)
    terms = [read_term(reader, term, len(names)) for term in reader.listed(terms, "terms")]
    if covariance is not None:
        covariance = reader.array(covariance, "covariance", (len(terms), len(terms)))
    coef = reader.floats(coef, "coef", len(terms))
    if offsets is not None:
        offsets = reader.floats(offsets, "offsets", len(names))
    return {
        "terms": terms,
        "coef": coef,
        "names": names,
        "covariance": covariance,
        "offsets": offsets,
    }
