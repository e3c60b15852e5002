"""How estimators look in notebooks."""

from sklearn import get_config
from sklearn.utils import estimator_html_repr


class HTMLRepresentation:
    """Shows, in notebooks, a fitted estimator's results below scikit-learn's diagram of it.

    Like the diagram, they are left out with ``sklearn.set_config(display="text")``.
    """

    def _repr_html_(self):
        if get_config()["display"] != "diagram":
            return None
        # Not at the top: `inspection` imports the estimators.
        from vanishing.inspection.html import shown_with

        return f"<div>{shown_with(estimator_html_repr(self), self)}</div>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        page = self._repr_html_()
        bundle = {"text/plain": repr(self)}
        return bundle if page is None else {**bundle, "text/html": page}
