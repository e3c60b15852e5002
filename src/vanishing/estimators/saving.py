"""The method `save` of estimators and results."""

from vanishing._types import Path
from vanishing.persistence import save


class Savable:
    """Adds `save` to an estimator or a result."""

    def save(self, path: Path) -> None:
        """Save the fitted estimator as a JSON file; `vanishing.load` reads it.

        Parameters
        ----------
        path : str or path-like
            A file that exists is replaced, at once: it is never half written.
        """
        save(self, path)
