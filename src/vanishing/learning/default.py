"""The parameter ``transformer`` whose default, None, stands for ``OAVI()``."""

from vanishing.constructions.oavi import OAVI

_PREFIX = "transformer__"


def resolved(transformer):
    """Return the transformer that the parameter stands for."""
    return OAVI() if transformer is None else transformer


class DefaultTransformer:
    """Lets parameters of the transformer be listed and set while it is None.

    ``GridSearchCV(VanishingClassifier(), {"transformer__psi": [...]})`` works as if the default
    were ``OAVI()``: scikit-learn wants defaults that are no estimators.
    """

    def get_params(self, deep=True):
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

    def set_params(self, **params):
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
