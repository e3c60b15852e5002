"""The report: one HTML file that says what a fitted model is, and needs nothing else.

It holds no rows but a sample of at most 2,000, of at most eight columns, for the picture, of laws
at most 1,500 of all columns; and no address that a browser would fetch.
"""

from pathlib import Path

from vanishing.inspection.laws import is_about_laws
from vanishing.persistence.files import write_or_say
from vanishing.report.facts import facts_of
from vanishing.report.law_facts import law_facts_of
from vanishing.report.law_page import law_page_of
from vanishing.report.page import page_of

__all__ = ["write_report"]


def write_report(model, X, y=None, path="report.html", *, title=None, data_name=None):
    """Write a report on a fitted model as one HTML file.

    What the model says, its error, the equations of each class by their influence, a picture that
    turns, distances, sizes, guarantees, settings and provenance. Of laws: the law, its constants,
    the equations that were compared, predictions, and what is left over. The file needs no network
    and no other file.

    Parameters
    ----------
    model : estimator, Pipeline or Law
        A fitted `VanishingClassifier`, `VanishingClassifierCV`, `VanishingFeatures`, `OAVI`, `ABM`,
        `AVI` or `VCA`, or a scikit-learn Pipeline that ends with one; a fitted `LawFinder`, or a
        `Law`, such as `check_law` returns.
    X : array-like of shape (n_samples, n_features)
        Rows to judge the model by, best such as were not used to fit it, in the columns that it was
        fitted to. A sample of them is part of the file.
    y : array-like of shape (n_samples,), default=None
        Their labels. Without them nothing is said of errors and of differences between the classes;
        a transformer without classes ignores them. Of laws: the target, where they have one that is
        no column of X.
    path : str or path-like, default="report.html"
        A file that exists is replaced, at once: it is never half written.
    title : str, default=None
        Heading of the report; by default it names the model and the data.
    data_name : str, default=None
        What to call the rows.

    Returns
    -------
    path : pathlib.Path
        Of the file.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from vanishing import VanishingClassifier
    >>> from vanishing.report import write_report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VanishingClassifier(C=10.0).fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(model, X[1::2], y[1::2], os.path.join(folder, "iris.html"))
    ...     print(path.name, path.stat().st_size < 500_000)
    iris.html True
    """
    path = Path(path)
    if is_about_laws(model):
        page = law_page_of(law_facts_of(model, X, y), title=title, data_name=data_name)
    else:
        page = page_of(facts_of(model, X, y), title=title, data_name=data_name)
    write_or_say(path, page, "the report is not written")
    return path
