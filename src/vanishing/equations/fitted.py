"""What laws and conserved quantities share: terms with fitted coefficients, written and saved."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from vanishing._types import FloatArray
from vanishing.algebra.expressions import Node, Number, of_term, total
from vanishing.algebra.immutable import Immutable, read_only
from vanishing.algebra.saving import read_term, write_term
from vanishing.algebra.solving import standard_errors
from vanishing.algebra.terms import Term, check_term
from vanishing.algebra.writing import PlainText
from vanishing.estimators.saving import Savable


class FittedTerms(Immutable, Savable):
    """Terms in named columns with fitted coefficients and, where known, their covariance."""

    kind: ClassVar[str]  # how messages call it

    coef: FloatArray
    coef_std: FloatArray
    covariance: FloatArray | None
    names: tuple[str, ...]
    _terms: tuple[Term, ...]

    def _set_terms(self, terms: Sequence[Term], coef, names: Sequence[str], covariance) -> None:
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
        self._set(
            _terms=terms,
            coef=read_only(coef),
            coef_std=read_only(standard_errors(covariance, n_terms)),
            covariance=covariance,
            names=names,
        )

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms as text."""
        text = PlainText(self.names)
        return tuple(text.write(of_term(term)) for term in self._terms)

    @property
    def total(self) -> Node:
        """The sum of coefficients times terms, as a tree in the columns by their places."""
        numbers = map(Number, self.coef.tolist(), np.nan_to_num(self.coef_std).tolist())
        return total(list(map(of_term, self._terms, numbers)))

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return len(self._terms)

    @property
    def _columns(self) -> set[int]:
        """The columns that occur."""
        return {i for i in range(len(self.names)) if any(t.involves(i) for t in self._terms)}

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
        return {
            "names": list(self.names),
            "terms": [write_term(writer, term) for term in self._terms],
            "coef": self.coef.tolist(),
            "covariance": None if covariance is None else writer.array(covariance, "covariance"),
        }


def read_terms(reader, names, terms, coef, covariance) -> dict:
    """Return what `FittedTerms.written_terms` has written, by names of parameters."""
    names = reader.names(names, "names", None)
    terms = [read_term(reader, term, len(names)) for term in reader.listed(terms, "terms")]
    if covariance is not None:
        covariance = reader.array(covariance, "covariance", (len(terms), len(terms)))
    coef = reader.floats(coef, "coef", len(terms))
    return {"terms": terms, "coef": coef, "names": names, "covariance": covariance}
