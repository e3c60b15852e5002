"""The report: one HTML file that says what a fitted model is, and needs nothing else.

It holds only a sample of the rows: for the picture at most 2,000, of at most eight columns; of laws
at most 1,500, of all columns; of outliers values of the oddest rows; of a repair up to 500 cells;
of motion values of the quantities, or up to 150 rows of each of at most 20 runs. It has no address
that a browser would fetch.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path, PurePath
from typing import Any

from vanishing._types import Labels, Table, Vector
from vanishing.inspection.laws import is_about_laws
from vanishing.motion.conserved import ConservedQuantities
from vanishing.motion.equations_of_motion import EquationsOfMotion
from vanishing.outliers.detector import VanishingOutlierDetector
from vanishing.persistence.files import write_or_say
from vanishing.repair.repair import VanishingRepair
from vanishing.report.equations_of_motion_facts import equations_of_motion_facts_of
from vanishing.report.equations_of_motion_page import equations_of_motion_page_of
from vanishing.report.facts import facts_of, without_gaps
from vanishing.report.law_facts import law_facts_of
from vanishing.report.law_page import law_page_of
from vanishing.report.motion_facts import motion_facts_of
from vanishing.report.motion_page import motion_page_of
from vanishing.report.outlier_facts import outlier_facts_of
from vanishing.report.outlier_page import outlier_page_of
from vanishing.report.page import page_of
from vanishing.report.repair_facts import repair_facts_of
from vanishing.report.repair_page import repair_page_of

__all__ = ["write_report"]


def write_report(
    model: Any,
    X: Table,
    y: Labels | None = None,
    path: str | PathLike[str] = "report.html",
    *,
    groups: Labels | None = None,
    t: Vector | None = None,
    inputs: Table | None = None,
    title: str | None = None,
    data_name: str | None = None,
    index: Sequence[object] | None = None,
    notes: str | Sequence[str] = (),
) -> PurePath:
    """Write a report on a fitted model as one HTML file.

    A report on a classifier or transformer has its error, columns and equations by what they change
    in the decision, a picture that turns, distances, sizes, guarantees, settings and provenance. On
    laws: the law, its constants, the equations that were compared, predictions and residuals. On
    outliers: the oddest rows and why they are odd. On a repair: the cells that were changed, and
    the laws that say so. On motion: what is conserved, over time; or how runs move, fitted and held
    out, with residuals and the field. The file needs no network and no other file.

    Parameters
    ----------
    model : estimator, Pipeline or Law
        A fitted `VanishingClassifier`, `VanishingClassifierCV`, `VanishingFeatures`, `OAVI`, `ABM`,
        `AVI` or `VCA`, or a scikit-learn Pipeline that ends with one; a fitted `LawFinder`, or a
        `Law`, such as `check_law` returns; a fitted `VanishingOutlierDetector`,
        `VanishingRepair`, `ConservedQuantities` or `EquationsOfMotion`.
    X : array-like of shape (n_samples, n_features)
        Rows to judge the model by, in the columns that it was fitted to; best are rows that were
        not used to fit it. A sample of them is part of the file.
    y : array-like of shape (n_samples,), default=None
        Labels, without which the report says nothing about errors and differences between classes;
        a transformer without classes ignores them. For laws: the target, if they have one that is
        no column of X. For outliers and motion: ignored.
    path : str or path-like, default="report.html"
        A file that exists is replaced in one step: it is never half written.
    groups : array-like of shape (n_samples,), default=None
        The run of each row, for `ConservedQuantities` and `EquationsOfMotion`; the group of each
        row, of laws by group.
    t : array-like of shape (n_samples,), default=None
        Times of the rows, which `EquationsOfMotion` needs; for `ConservedQuantities`, rows of a run
        are in their order by default. For `VanishingOutlierDetector`: numbers or dates, increasing;
        the report then has events and an axis of time.
    inputs : array-like of shape (n_samples, n_inputs), default=None
        Inputs that act on the columns, for `EquationsOfMotion`.
    title : str, default=None
        Heading of the report; by default it names the model and the data.
    data_name : str, default=None
        The name of the rows in the report.
    index : sequence of length n_samples, default=None
        The name of each row, for `VanishingOutlierDetector` and `VanishingRepair`: a number, a
        text, or a tuple such as (204, "S-017"). None takes the index of a DataFrame, or counts
        from 1.
    notes : str or sequence of str, default=()
        Sentences about the rows to show near the top, such as how many cells were filled in.

    Returns
    -------
    path : pathlib.Path
        Of the file.

    See Also
    --------
    vanishing.inspection : The facts of a report as values.
    vanishing.plot : Single pictures, with matplotlib.

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
    notes = (notes,) if isinstance(notes, str) else tuple(notes)
    heading = {"title": title, "data_name": data_name, "notes": notes}
    if is_about_laws(model):
        page = law_page_of(law_facts_of(model, X, y, groups), **heading)
    elif isinstance(model, VanishingOutlierDetector):
        page = outlier_page_of(outlier_facts_of(model, X, index, t), **heading)
    elif isinstance(model, VanishingRepair):
        page = repair_page_of(repair_facts_of(model, X, index), **heading)
    elif isinstance(model, ConservedQuantities):
        page = motion_page_of(motion_facts_of(model, X, groups, t), **heading)
    elif isinstance(model, EquationsOfMotion):
        facts = equations_of_motion_facts_of(model, X, t, groups, inputs)
        page = equations_of_motion_page_of(facts, **heading)
    else:
        X, y, n_gaps = without_gaps(model, X, y)
        if n_gaps:
            left_out = f"{n_gaps} row{'' if n_gaps == 1 else 's'} with gaps left out."
            heading["notes"] = (*notes, left_out)
        page = page_of(facts_of(model, X, y), **heading)
    write_or_say(path, page, "the report is not written")
    return path
