"""What the displays of laws share: which law is drawn on which rows, and the size of points."""

from typing import Any, Self

from vanishing._types import Labels, Table, Vector
from vanishing.equations.by_group import LawsByGroup
from vanishing.equations.law import Law
from vanishing.inspection import LawRows, law_anatomy, law_rows


class LawRowsDisplay:
    """A display of a law on rows: `_of` makes it from measured and predicted values."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: Vector | None = None,
        *,
        column: str | None = None,
        groups: Labels | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw how the best law does on rows.

        Parameters
        ----------
        estimator : fitted LawFinder, Law or LawsByGroup
        X : array-like of shape (n_samples, n_features), or frame
            A frame may have the target among its columns.
        y : array-like of shape (n_samples,), default=None
            The target, where the law has one that is no column of X.
        column : str, default=None
            What to predict: by default the target; without one, the column with a closed form
            whose residuals the others explain least. Of two solutions the one nearer to the
            measured value is taken then.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, of laws by group.
        ax : matplotlib Axes or as many as there are panels, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : display
        """
        law = _law_of(estimator)
        return cls._of(law_rows(law, X, y, column=column, groups=groups)).plot(ax)

    @classmethod
    def _of(cls, rows: LawRows) -> Any:
        raise NotImplementedError


def _law_of(estimator) -> Law | LawsByGroup:
    """Return the best law, or laws by group; raise ValueError where there is none."""
    answer = law_anatomy(estimator)
    if isinstance(estimator, Law):
        return estimator
    if answer.by_group is not None:
        return answer.by_group
    if not answer.laws:
        raise ValueError("no law was found: give an equation, such as one of front_.")
    return answer.laws[0]


def point_size(n_rows: int) -> float:
    """Return the size of points, larger where they are few."""
    return 4.0 if n_rows > 100 else 8.0
