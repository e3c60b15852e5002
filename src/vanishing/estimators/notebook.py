"""How estimators look in notebooks."""

from sklearn import get_config
from sklearn.utils import estimator_html_repr


class HTMLRepresentation:
    """Adds to scikit-learn's diagram of an estimator, in notebooks, what it found if it is fitted.

    As the diagram, it is left out with ``sklearn.set_config(display="text")``.
    """

    def _repr_html_(self):
        if get_config()["display"] != "diagram":
            return None
        # Here and not above: what shows models stands on the floors below.
        from vanishing.inspection.html import shown_with

        return f"<div>{shown_with(estimator_html_repr(self), self)}</div>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        page = self._repr_html_()
        shown = {"text/plain": repr(self)}
        return shown if page is None else {**shown, "text/html": page}
