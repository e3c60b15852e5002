"""The parameter ``transformer`` whose default, None, stands for ``OAVI()``."""

from typing import Any, Self

from sklearn.base import clone

from vanishing.checks import check_number
from vanishing.constructions.oavi import OAVI
from vanishing.estimators.bases import BaseEstimator

_PREFIX = "transformer__"


def resolved(transformer, psi=None):
    """Return the transformer that the parameter stands for: a copy of it with another ``psi``."""
    transformer = OAVI() if transformer is None else transformer
    if psi is None:
        return transformer
    if "psi" not in transformer.get_params(deep=False):
        raise TypeError(
            f"psi={psi!r} is meant for the transformer, but {type(transformer).__name__} has no "
            "parameter psi. Leave psi out, or give OAVI, ABM, AVI or VCA."
        )
    check_number("psi", psi, low=0)
    transformer = clone(transformer).set_params(psi=psi)
    if hasattr(transformer, "check_parameters"):
        transformer.check_parameters()
    return transformer


class DefaultTransformer(BaseEstimator):
    """Lets parameters of the transformer be listed and set while it is None.

    ``GridSearchCV(VanishingClassifier(), {"transformer__psi": [...]})`` works as if the default
    were ``OAVI()``: scikit-learn wants defaults that are no estimators.
    """

    transformer: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, those of the transformer that None stands for included.

        Parameters
        ----------
        deep : bool, default=True
            Whether parameters of parts are returned as well.

        Returns
        -------
        params : dict
        """
        params = super().get_params(deep=deep)
        if deep and params["transformer"] is None:
            params |= {_PREFIX + name: value for name, value in OAVI().get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; one of a transformer that is None makes it an ``OAVI``.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self : object
        """
        inner = {name: value for name, value in params.items() if name.startswith(_PREFIX)}
        if inner and params.get("transformer", self.transformer) is None:
            params = {name: value for name, value in params.items() if name not in inner}
            names = {name.removeprefix(_PREFIX): value for name, value in inner.items()}
            params["transformer"] = OAVI().set_params(**names)
        return super().set_params(**params)
