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
            An existing file is replaced in one step: it is never half written.

        See Also
        --------
        vanishing.load : Reads the file.
        vanishing.save : The same as a function, also for pipelines.
        """
        save(self, path)
