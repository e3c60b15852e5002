"""Laws of one form, one per group of rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np

from vanishing._types import FloatArray, Labels, Table
from vanishing.algebra.immutable import Immutable
from vanishing.equations.law import Law, read_law, write_law
from vanishing.equations.parts import Group
from vanishing.estimators.saving import Savable
from vanishing.persistence import register_result


class LawsByGroup(Immutable, Savable):
    """Laws of one form, one per group of rows: some constants differ, the others are shared.

    `check_law` returns it where rows come in groups. It is a sequence of laws, in the order of
    ``groups``; ``laws_by_group.of(group)`` is the law of a group.

    Parameters
    ----------
    laws : sequence of Law
        Each with its ``group``.
    verdict : str, default=""
        Whether the form holds in all groups, and which constants differ.
    p_values : mapping from str to float, default=()
        The probability that a constant differs between groups as much by chance.
    differing : sequence of str, default=()
        Constants that differ between groups.

    Attributes
    ----------
    groups : tuple of str, int or float
        The groups.
    shared : tuple of str
        Constants that are the same in all groups.
    wrong_rows : tuple of int
        Rows that a robust fit left out as wrong, counted from 0.

    See Also
    --------
    check_law : Fits the constants of an equation, by group if there are any.
    Law : The law of one group.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing import check_law
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 3, size=(60, 1))
    >>> batch = np.repeat(["A", "B"], 30)
    >>> y = np.where(batch == "A", 2.0, 2.5) * X[:, 0] + 1.0 + rng.normal(scale=0.01, size=60)
    >>> laws = check_law("y = a*x0 + b", X, y, groups=batch)
    >>> print(laws)
    A: y = 2.000(2)*x0 + 1.002(5)
    B: y = 2.499(2)*x0 + 1.002(5)
    >>> laws.differing, laws.shared
    (('a',), ('b',))
    """

    laws: tuple[Law, ...]
    verdict: str
    differing: tuple[str, ...]
    _p_values: tuple[tuple[str, float], ...]

    def __init__(
        self,
        laws: Sequence[Law],
        *,
        verdict: str = "",
        p_values: Mapping[str, float] | tuple[()] = (),
        differing: Sequence[str] = (),
    ):
        laws = tuple(laws)
        if not laws or any(law.group is None for law in laws):
            raise ValueError("laws by group are one law per group, each with its group.")
        if len({law.group for law in laws}) < len(laws):
            raise ValueError("two laws have the same group.")
        self._set(
            laws=laws,
            verdict=str(verdict),
            differing=tuple(differing),
            _p_values=tuple((str(name), float(p)) for name, p in dict(p_values).items()),
        )

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups."""
        return tuple(law.group for law in self.laws if law.group is not None)

    @property
    def holds(self) -> bool:
        """Whether the form may hold in all groups."""
        return not self.verdict.startswith("does not hold")

    @property
    def p_values(self) -> dict[str, float]:
        """The probability that a constant differs between groups as much by chance."""
        return dict(self._p_values)

    @property
    def shared(self) -> tuple[str, ...]:
        """Constants that are the same in all groups."""
        return tuple(name for name, _ in self._p_values if name not in self.differing)

    @property
    def wrong_rows(self) -> tuple[int, ...]:
        """Rows that a robust fit left out as wrong, counted from 0."""
        return tuple(sorted(row for law in self.laws for row in law.wrong_rows))

    def __len__(self) -> int:
        return len(self.laws)

    def __iter__(self) -> Iterator[Law]:
        return iter(self.laws)

    def __getitem__(self, place: int) -> Law:
        return self.laws[place]

    def of(self, group: Group) -> Law:
        """Return the law of a group.

        Parameters
        ----------
        group : str, int or float

        Returns
        -------
        law : Law
        """
        return law_of_group(self.laws, group)

    @overload
    def predict(self, X: Table, groups: Labels, return_std: Literal[False] = ...) -> FloatArray: ...
    @overload
    def predict(
        self, X: Table, groups: Labels, return_std: Literal[True]
    ) -> tuple[FloatArray, FloatArray]: ...
    def predict(self, X, groups, return_std=False):
        """Return the target from the other columns, by the law of each row's group.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs), or frame
        groups : array-like of shape (n_samples,)
            The group of each row; a group that no law is about is an error.
        return_std : bool, default=False
            Whether to return standard deviations, too, as `Law.predict` does.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            NaN where the equation has no solution.
        std : ndarray of shape (n_samples,), with ``return_std=True``
            Standard deviation of a new measurement about its prediction.
        """
        values, std = predicted_by_group(self.laws, X, groups)
        return (values, std) if return_std else values

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        return "\n".join(f"{law.group}: {law}" for law in self.laws)


def law_of_group(laws: Sequence[Law], group: Group) -> Law:
    """Return the law of a group; numbers may stand for texts, as files have them."""
    for law in laws:
        if law.group == group or str(law.group) == str(group):
            return law
    known = ", ".join(repr(law.group) for law in laws[:10]) + (", ..." if len(laws) > 10 else "")
    raise ValueError(f"there is no law of group {group!r}; the groups are {known}.")


def predicted_by_group(laws: Sequence[Law], X: Any, groups: Labels) -> tuple[np.ndarray, ...]:
    """Return what the laws of groups predict, and standard deviations."""
    labels = np.asarray(groups)
    if labels.ndim != 1 or len(labels) != len(X):
        raise ValueError(
            f"groups must have one entry per row of X, {len(X)}; its shape is {labels.shape}."
        )
    values, std = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for label in dict.fromkeys(labels.tolist()):
        rows = np.flatnonzero(labels == label)
        part = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
        values[rows], std[rows] = law_of_group(laws, label).predict(part, return_std=True)
    return values, std


# -- Saving ---------------------------------------------------------------------------------------


def _write(writer, laws: LawsByGroup) -> dict:
    return {
        "laws": [write_law(writer, law) for law in laws],
        "verdict": laws.verdict,
        "p_values": {name: writer.float(p) for name, p in laws.p_values.items()},
        "differing": list(laws.differing),
    }


def _read(reader, node) -> LawsByGroup:
    laws, verdict, p_values, differing = reader.fields(
        node, "laws by group", ("laws", "verdict", "p_values", "differing")
    )
    reader.require(isinstance(p_values, dict), "p_values are not an object.")
    return LawsByGroup(
        [read_law(reader, law) for law in reader.listed(laws, "laws")],
        verdict=reader.string(verdict, "verdict"),
        p_values={name: reader.measured(p, name) for name, p in p_values.items()},
        differing=reader.names(differing, "differing", None),
    )


register_result(LawsByGroup, _write, _read)
