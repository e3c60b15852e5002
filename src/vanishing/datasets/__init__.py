"""The six data sets of the paper, from local files or OpenML, and synthetic varieties.

A local file of a data set is ``<name>.csv.gz`` or ``<name>.csv``: a header row, one column a
feature with raw (unscaled) values, and a last column ``class`` with the values 0, ..., k - 1.
"""

import gzip
import os
import re
import zlib
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch, check_random_state

from vanishing.algebra.polynomials import Polynomial, default_names
from vanishing.checks import check_flag, check_number

__all__ = ["load", "make_circle", "make_sphere", "make_two_surfaces", "make_variety"]


class _Dataset(NamedTuple):
    """What is known of a data set, and what a file or a download of it must hold."""

    title: str
    rows: str
    feature_names: tuple[str, ...]
    classes: dict[str, int]
    """Number of rows of each class, the classes in the order of their labels 0, 1, ..."""
    first_means: tuple[float, ...]
    """Mean of the first feature in each class: tells columns and classes of a download apart."""
    uci_id: int
    openml_id: int
    citation: str
    openml_dropped: tuple[str, ...] = ()

    @property
    def n_samples(self) -> int:
        return sum(self.classes.values())

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def url(self) -> str:
        return f"https://www.openml.org/d/{self.openml_id}"

    @property
    def description(self) -> str:
        listed = ", ".join(f"{name}: {count}" for name, count in self.classes.items())
        return (
            f"{self.title}\n\n"
            f"{self.n_samples} rows, {self.n_features} features, {len(self.classes)} classes "
            f"({listed}). {self.rows} Values are raw, unscaled; none is missing.\n\n"
            f"Columns: {', '.join(self.feature_names)}.\n\n"
            "Source: UCI Machine Learning Repository, "
            f"https://archive.ics.uci.edu/dataset/{self.uci_id}; on OpenML: {self.url}.\n\n"
            f"To cite: {self.citation}"
        )


_SPAM_WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses "
    "free business email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data "
    "415 85 technology 1999 parts pm direct cs meeting original project re edu table conference"
)

_DATASETS = {
    "bank": _Dataset(
        title="Banknote authentication",
        rows="A row is an image of a genuine or forged banknote-like specimen, described by three "
        "statistics of its wavelet transform and the entropy of the image. The source does not say "
        "which of the classes 0 and 1 is the genuine one.",
        feature_names=("variance", "skewness", "curtosis", "entropy"),
        classes={"0": 762, "1": 610},
        first_means=(2.276686, -1.868443),
        uci_id=267,
        openml_id=1462,
        citation="V. Lohweg (2012). Banknote Authentication [Dataset]. UCI Machine Learning "
        "Repository. https://doi.org/10.24432/C55P57",
    ),
    "credit": _Dataset(
        title="Default of credit card clients",
        rows="A row is a credit card client in Taiwan: sex, education, marital status, age, and "
        "for April to September 2005 the repayment status, bill and payment of each month; the "
        "class says whether the client defaulted on the next payment. The client's number (ID) and "
        "the amount of the credit (LIMIT_BAL) are dropped, which leaves the paper's 22 features.",
        feature_names=(
            *("SEX", "EDUCATION", "MARRIAGE", "AGE"),
            *("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"),
            *(f"BILL_AMT{i}" for i in range(1, 7)),
            *(f"PAY_AMT{i}" for i in range(1, 7)),
        ),
        classes={"no default": 23364, "default": 6636},
        first_means=(1.614150, 1.567058),
        uci_id=350,
        openml_id=42477,
        openml_dropped=("id", "x1"),  # x1 is LIMIT_BAL
        citation="I-C. Yeh and C. Lien (2009). The comparisons of data mining techniques for the "
        "predictive accuracy of probability of default of credit card clients. Expert Systems with "
        "Applications 36(2), 2473-2480. The data: I-C. Yeh (2009). Default of Credit Card Clients "
        "[Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C55S3H",
    ),
    "htru": _Dataset(
        title="HTRU2, pulsar candidates",
        rows="A row is a pulsar candidate of the High Time Resolution Universe Survey (South), "
        "described by four statistics of its integrated pulse profile and four of its DM-SNR "
        "curve. Candidates that are not pulsars come from radio interference and noise.",
        feature_names=tuple(
            f"{curve}_{statistic}"
            for curve in ("profile", "dm")
            for statistic in ("mean", "stdev", "excess_kurtosis", "skewness")
        ),
        classes={"not a pulsar": 16259, "pulsar": 1639},
        first_means=(116.562726, 56.690608),
        uci_id=372,
        openml_id=45558,
        citation="R. J. Lyon, B. W. Stappers, S. Cooper, J. M. Brooke and J. D. Knowles (2016). "
        "Fifty years of pulsar candidate selection: from simple filters to a new principled "
        "real-time classification approach. Monthly Notices of the Royal Astronomical Society "
        "459(1), 1104-1123. https://doi.org/10.1093/mnras/stw656. The data: R. Lyon (2015). HTRU2 "
        "[Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C5DK6R",
    ),
    "seeds": _Dataset(
        title="Seeds, kernels of wheat",
        rows="A row is a kernel of one of three varieties of wheat, described by seven geometric "
        "parameters measured on its X-ray image.",
        feature_names=(
            *("area", "perimeter", "compactness", "kernel_length", "kernel_width"),
            *("asymmetry_coefficient", "kernel_groove_length"),
        ),
        classes={"Kama": 70, "Rosa": 70, "Canadian": 70},
        first_means=(14.334429, 18.334286, 11.873857),
        uci_id=236,
        openml_id=1499,
        citation="M. Charytanowicz, J. Niewczas, P. Kulczycki, P. A. Kowalski, S. Lukasik and "
        "S. Zak (2010). A complete gradient clustering algorithm for features analysis of X-ray "
        "images. In E. Pietka and J. Kawa (eds.), Information Technologies in Biomedicine, "
        "Springer, 15-24. The data: M. Charytanowicz, J. Niewczas, P. Kulczycki, P. Kowalski and "
        "S. Lukasik (2010). Seeds [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5H30K",
    ),
    "skin": _Dataset(
        title="Skin segmentation",
        rows="A row is a pixel, its blue, green and red value, of skin in images of faces of "
        "people of various age, sex and origin, or of something else.",
        feature_names=("B", "G", "R"),
        classes={"skin": 50859, "not skin": 194198},
        first_means=(113.869876, 127.997482),
        uci_id=229,
        openml_id=1502,
        citation="R. Bhatt and A. Dhall (2009). Skin Segmentation [Dataset]. UCI Machine Learning "
        "Repository. https://doi.org/10.24432/C5T30C. See also R. B. Bhatt, G. Sharma, A. Dhall "
        "and S. Chaudhury (2009). Efficient skin region segmentation using low complexity fuzzy "
        "decision tree model. IEEE INDICON, 1-4.",
    ),
    "spam": _Dataset(
        title="Spambase",
        rows="A row is an e-mail: the percentages of its words that are a given word and of its "
        "characters that are a given character, and the average, longest and total length of its "
        "runs of capital letters.",
        feature_names=(
            *(f"word_freq_{word}" for word in _SPAM_WORDS.split()),
            *(f"char_freq_{character}" for character in ";([!$#"),
            *(f"capital_run_length_{length}" for length in ("average", "longest", "total")),
        ),
        classes={"not spam": 2788, "spam": 1813},
        first_means=(0.073479, 0.152339),
        uci_id=94,
        openml_id=44,
        citation="M. Hopkins, E. Reeber, G. Forman and J. Suermondt (1999). Spambase [Dataset]. "
        "UCI Machine Learning Repository. https://doi.org/10.24432/C53G6X",
    ),
}


def load(name, *, data_home=None, return_X_y=False):
    """Load one of the paper's data sets from a local file or from OpenML.

    The file ``<name>.csv.gz`` or ``<name>.csv`` is looked for in `data_home`, then in the folder
    that the environment variable ``VANISHING_DATA`` names. Where there is none, the data set is
    fetched from OpenML with `sklearn.datasets.fetch_openml` and kept in scikit-learn's cache, from
    which later calls read it. Values are raw: scale them, for example with
    `sklearn.preprocessing.MinMaxScaler`, before computing generators.

    Parameters
    ----------
    name : {"bank", "credit", "htru", "seeds", "skin", "spam"}
        The data set.
    data_home : path-like, default=None
        The folder to look in first. It is only read, never written to: downloads go to
        scikit-learn's own folder (see `sklearn.datasets.get_data_home`; the environment variable
        ``SCIKIT_LEARN_DATA`` moves it).
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.

    Returns
    -------
    dataset : sklearn.utils.Bunch
        With the attributes

        - ``data``: float64 array of shape (n_samples, n_features);
        - ``target``: int64 array of shape (n_samples,), values in 0, ..., n_classes - 1;
        - ``feature_names``: list of the n_features column names;
        - ``target_names``: list of the n_classes class names;
        - ``DESCR``: what the rows, columns and classes are, and where they come from;
        - ``citation``: the works to cite when the data is used;
        - ``filename``: the file read, None if the data was fetched;
        - ``url``: the page on OpenML of the data fetched, None if a file was read.
    (data, target) : tuple of arrays
        If `return_X_y` is True.

    Raises
    ------
    ValueError
        If `name` is unknown, or what was found is not this data set: shape and number of rows of
        each class are checked, and for a download the mean of the first column in each class.
    FileNotFoundError
        If there is no such file in any of the places and OpenML cannot be reached.

    Examples
    --------
    >>> from vanishing import datasets
    >>> X, y = datasets.load("seeds", data_home="data", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (210, 7)
    """
    if not isinstance(name, str) or name not in _DATASETS:
        raise ValueError(f"Unknown data set {name!r}; choose one of {', '.join(_DATASETS)}.")
    check_flag("return_X_y", return_X_y)
    expected = _DATASETS[name]
    places = [place for place in (data_home, os.environ.get("VANISHING_DATA")) if place]
    path = _find(name, places)
    if path is None:
        feature_names, data, target = _fetch(name, places)
    else:
        feature_names, data, target = _read(path, expected)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        target_names=list(expected.classes),
        DESCR=expected.description,
        citation=expected.citation,
        filename=None if path is None else str(path),
        url=expected.url if path is None else None,
    )


def _find(name: str, places) -> Path | None:
    """Return the first file of this data set among the places to look in."""
    for place in places:
        for suffix in (".csv.gz", ".csv"):
            path = Path(place).expanduser() / f"{name}{suffix}"
            if path.is_file():
                return path
    return None


def _require(condition, where, problem: str) -> None:
    if not condition:
        raise ValueError(f"{where} does not hold the data set it should: {problem}.")


def _read(path: Path, expected: _Dataset) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Read feature names, data and target, and check that they are what is expected."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            header = file.readline().strip().split(",")
            # "#" occurs in column names and nowhere else: no line is a comment.
            table = np.loadtxt(file, delimiter=",", comments=None, ndmin=2)
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a table of numbers: {error}") from error
    shape = (expected.n_samples, expected.n_features + 1)
    _require(
        table.shape == shape and len(header) == shape[1],
        path,
        f"expected {shape[0]} rows and {shape[1]} columns with the class, found a header of "
        f"{len(header)} names and a table of shape {table.shape}",
    )
    _require(header[-1] == "class", path, f"the last column is {header[-1]!r}, not 'class'")
    data, target = np.ascontiguousarray(table[:, :-1]), table[:, -1]
    n_classes = len(expected.classes)
    _require(
        np.array_equal(np.unique(target), np.arange(n_classes)),
        path,
        f"the values of the last column are not 0, ..., {n_classes - 1}",
    )
    target = target.astype(np.int64)
    _check(path, data, target, expected)
    return header[:-1], data, target


def _fetch(name: str, places) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Fetch a data set from OpenML, in the columns and classes of the local files."""
    expected = _DATASETS[name]
    where = f"OpenML's data set {expected.openml_id}"
    try:
        # This parser does without pandas.
        bunch = fetch_openml(data_id=expected.openml_id, as_frame=False, parser="liac-arff")
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError, LookupError) as error:
        raise ValueError(
            f"{where} cannot be read: {error!r}. If that persists, delete the folder openml in "
            "scikit-learn's cache (sklearn.datasets.get_data_home says where)."
        ) from error
    except (OSError, HTTPException) as error:
        looked = f"Looked in: {', '.join(map(str, places))}." if places else "No folder was given."
        raise FileNotFoundError(
            f"No file {name}.csv.gz or {name}.csv, and {where} cannot be fetched: {error!r}. "
            f"{looked} Pass the folder that holds the file as data_home, or set the environment "
            "variable VANISHING_DATA to it, or connect to the internet and try again."
        ) from error
    columns = list(bunch.feature_names)
    try:
        data = np.array(bunch.data, dtype=np.float64, ndmin=2)
        # Columns that OpenML calls nominal come as places in the list of their values.
        for column, values in (bunch.get("categories") or {}).items():
            if column in columns:
                place = data[:, columns.index(column)]
                place[:] = np.asarray(values, dtype=np.float64)[place.astype(np.intp)]
        labels = np.asarray(bunch.target, dtype=np.float64)
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{where} has values that are not numbers: {error}") from error
    wanted = [column.lower() not in expected.openml_dropped for column in columns]
    data = np.ascontiguousarray(data[:, wanted])
    shape = (expected.n_samples, expected.n_features)
    _require(
        data.shape == shape and labels.shape == shape[:1],
        where,
        f"expected {shape[0]} rows and {shape[1]} features, found an array of shape {data.shape} "
        f"and labels of shape {labels.shape}",
    )
    # Labels there start at 0 or at 1; their order is ours.
    target = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    _check(where, data, target, expected)
    first_means = [data[target == label, 0].mean() for label in range(len(expected.classes))]
    _require(
        np.allclose(first_means, expected.first_means, rtol=1e-4, atol=0),
        where,
        f"the means of the first column in the classes are {np.round(first_means, 6).tolist()}, "
        f"not {list(expected.first_means)}",
    )
    return list(expected.feature_names), data, target


def _check(where, data, target, expected: _Dataset) -> None:
    """Check what a file and a download of a data set have in common."""
    _require(np.isfinite(data).all(), where, "there are NaN or infinite values")
    counts = np.bincount(target).tolist()
    _require(
        counts == list(expected.classes.values()),
        where,
        f"expected {list(expected.classes.values())} rows of the classes, found {counts}",
    )


def _perturbed(X, noise, random_state) -> np.ndarray:
    return X + random_state.normal(scale=noise, size=X.shape) if noise else X


def make_circle(n_samples=400, *, radius=1.0, noise=0.0, random_state=None):
    """Draw points of a circle around the origin.

    Parameters
    ----------
    n_samples : int, default=400
        Number of points.
    radius : float, default=1.0
        Radius of the circle.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to every coordinate.
    random_state : int, RandomState instance or None, default=None
        Determines the points; pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Uniform on the circle, before the noise.

    Examples
    --------
    >>> from vanishing import OAVI
    >>> from vanishing.datasets import make_circle
    >>> X = make_circle(radius=0.5, random_state=0)
    >>> print(OAVI(psi=1e-8, oracle="ls", max_degree=2).fit(X).generators_[0])
    x1^2 + x0^2 - 0.25
    """
    return make_sphere(
        n_samples, n_features=2, radius=radius, noise=noise, random_state=random_state
    )


def make_sphere(n_samples=1000, *, n_features=3, radius=1.0, noise=0.0, random_state=None):
    """Draw points of a sphere around the origin.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    n_features : int, default=3
        Number of coordinates.
    radius : float, default=1.0
        Radius of the sphere.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to every coordinate.
    random_state : int, RandomState instance or None, default=None
        Determines the points; pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Uniform on the sphere, before the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from vanishing.datasets import make_sphere
    >>> X = make_sphere(5, n_features=4, radius=2.0, random_state=0)
    >>> np.linalg.norm(X, axis=1).round(6)
    array([2., 2., 2., 2., 2.])
    """
    check_number("n_samples", n_samples, low=1, integer=True)
    check_number("n_features", n_features, low=1, integer=True)
    check_number("radius", radius, low=0, low_open=True)
    check_number("noise", noise, low=0)
    random_state = check_random_state(random_state)
    X = random_state.normal(size=(n_samples, n_features))
    X *= radius / np.linalg.norm(X, axis=1, keepdims=True)
    return _perturbed(X, noise, random_state)


def make_two_surfaces(n_samples=1000, *, noise=0.05, random_state=None):
    """Draw two classes of points, each close to a quadric surface in three dimensions.

    Class 0 lies on x0^2 + 0.01*x1 + x2^2 = 1, class 1 on x0^2 + x2^2 = 1.3. The two classes are
    not linearly separable; a polynomial of degree 2 tells them apart.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points, half of them of each class (class 0 has one more if the number is odd).
    noise : float, default=0.05
        Standard deviation of Gaussian noise added to every coordinate.
    random_state : int, RandomState instance or None, default=None
        Determines the points; pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        Before the noise, x1 is uniform in [-1, 1] and the angle around its axis is uniform.
    y : ndarray of int of shape (n_samples,)
        The classes, in random order.

    Examples
    --------
    >>> from vanishing.datasets import make_two_surfaces
    >>> X, y = make_two_surfaces(6, noise=0.0, random_state=0)
    >>> y.tolist()
    [1, 0, 1, 1, 0, 0]
    >>> (X[y == 1, 0] ** 2 + X[y == 1, 2] ** 2).round(6)
    array([1.3, 1.3, 1.3])
    """
    check_number("n_samples", n_samples, low=2, integer=True)
    check_number("noise", noise, low=0)
    random_state = check_random_state(random_state)
    y = random_state.permutation(np.arange(n_samples) % 2)
    height = random_state.uniform(-1, 1, size=n_samples)
    angle = random_state.uniform(0, 2 * np.pi, size=n_samples)
    radius = np.sqrt(np.where(y == 0, 1 - 0.01 * height, 1.3))
    X = np.column_stack([radius * np.cos(angle), height, radius * np.sin(angle)])
    return _perturbed(X, noise, random_state), y


_BATCH = (1000, 10_000)  # fewest and most starting points at a time
_RARE = 100  # give up when fewer than one in so many starting points ends on the variety
_STEPS = 60  # enough to halve an error down to rounding, as Newton's method does at singular points
_ACCURACY = 1e-14  # of an equation, relative to the size of its terms
_FAR = 10  # widths of the box from which a point does not come back


def make_variety(
    equations, n_samples=400, *, noise=0.0, box=(-1, 1), names=None, random_state=None
):
    """Draw points of the common zero set of polynomial equations.

    Points that are uniform in a box are moved onto the zero set by Newton's method with steps of
    minimum norm, and those that end inside the box are kept. They satisfy the equations up to
    rounding, but are **not** uniform on the zero set: parts that more of the box is close to get
    more points, and a finite zero set gets its points many times.

    Parameters
    ----------
    equations : str, Polynomial, sequence of these, or Generators
        The equations. A string is a polynomial in ``+``, ``-``, ``*``, ``^`` or ``**`` with a
        non-negative integer, brackets and numbers, or two of them with ``=`` between them. A
        polynomial stands for the equation that it is zero.
    n_samples : int, default=400
        Number of points.
    noise : float, default=0.0
        Standard deviation of Gaussian noise added to every coordinate. It may lead out of the box.
    box : pair of float or array-like of shape (n_features, 2), default=(-1, 1)
        Smallest and largest value of all variables, or of each of them.
    names : sequence of str, default=None
        Names of the variables in the strings, in the order of the columns; also of those that no
        equation contains. By default those of the polynomials given, or x0, x1, ... up to the last
        one that occurs.
    random_state : int, RandomState instance or None, default=None
        Determines the points; pass an int for the same points in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)

    Raises
    ------
    ValueError
        If an equation cannot be read, or hardly any starting point ends on the zero set.

    Examples
    --------
    >>> from vanishing.datasets import make_variety
    >>> X = make_variety(["x0^2 + x1^2 = 0.5", "x2 = x0*x1"], 5, random_state=0)
    >>> X.shape
    (5, 3)
    >>> (X[:, 0] ** 2 + X[:, 1] ** 2).round(6)
    array([0.5, 0.5, 0.5, 0.5, 0.5])
    >>> bool(abs(X[:, 2] - X[:, 0] * X[:, 1]).max() < 1e-12)
    True
    """
    check_number("n_samples", n_samples, low=1, integer=True)
    check_number("noise", noise, low=0)
    polynomials = _polynomials(equations, names)
    low, high = _corners(box, polynomials[0].terms.shape[1])
    random_state = check_random_state(random_state)
    kept, found, starts = [], 0, 0
    while found < n_samples:
        if found * _RARE < starts:
            raise ValueError(
                f"found only {found} points of {n_samples} after {starts} starting points; is the "
                "zero set empty in the box?"
            )
        batch = int(np.clip(2 * (n_samples - found), *_BATCH))
        X = random_state.uniform(low, high, size=(batch, low.size))
        kept.append(_project(polynomials, X, low, high))
        found += len(kept[-1])
        starts += batch
    return _perturbed(np.vstack(kept)[:n_samples], noise, random_state)


def _corners(box, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest values of the variables."""
    problem = (
        "box must be a pair of finite numbers, the smaller one first, or one such pair for each "
        f"of the {n_features} variables; got {box!r}."
    )
    try:
        box = np.asarray(box, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(problem) from None
    if box.shape not in ((2,), (n_features, 2)):
        raise ValueError(problem)
    low, high = np.broadcast_to(box, (n_features, 2)).T
    if not ((low < high).all() and np.abs(box).max() <= 1e300):  # the width must be finite too
        raise ValueError(problem)
    return low, high


def _project(polynomials: list[Polynomial], X, low, high) -> np.ndarray:
    """Move rows onto the zero set of polynomials; return those that arrive inside the box."""
    width = high - low
    # Sizes of terms are taken as if no variable were smaller than this: a term like x0^2 alone
    # would never be small compared with itself.
    floor = np.minimum(1.0, np.maximum(np.abs(low), np.abs(high)))
    sizes = [Polynomial(g.terms, np.abs(g.coef)) for g in polynomials]
    arrived = np.zeros(len(X), dtype=bool)
    active = np.arange(len(X))
    with np.errstate(all="ignore"):  # rows whose values overflow are given up
        for _ in range(_STEPS):
            here = X[active]
            magnitude = np.maximum(np.abs(here), floor)
            values = np.column_stack([g(here) for g in polynomials])
            size = np.column_stack([g(magnitude) for g in sizes])
            zero = (np.abs(values) <= _ACCURACY * size).all(axis=1)
            arrived[active[zero]] = np.isfinite(size[zero]).all(axis=1)
            jacobian = np.stack([g.gradient(here) for g in polynomials], axis=1)
            finite = np.isfinite(values).all(axis=1) & np.isfinite(jacobian).all(axis=(1, 2))
            move = ~zero & finite
            # The minimum-norm solution of: values + jacobian step = 0.
            inverse = np.linalg.pinv(jacobian[move], rcond=1e-10)
            here = here[move] - np.einsum("rij,rj->ri", inverse, values[move])
            near = (np.abs(here - low) <= _FAR * width).all(axis=1)
            active = active[move][near]
            X[active] = here[near]
            if not active.size:
                break
    # With some slack, since a face of the box may be part of the zero set.
    inside = (np.abs(X - (low + width / 2)) <= (0.5 + 1e-9) * width).all(axis=1)
    return X[arrived & inside]


_MAX_DEGREE = 50
_MAX_VARIABLES = 1000
_MAX_PRODUCTS = 20_000  # of terms, in one product of polynomials
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*|\[[^][]*\])"
    r"|(?P<sign>\*\*|==|[-+*^()=])"
    r"|(?P<space>\s+)"
    r"|(?P<unknown>.)"
)


def _polynomials(equations, names) -> list[Polynomial]:
    """Return equations as polynomials in the same variables, their largest coefficient 1."""
    single = isinstance(equations, (str, Polynomial))
    try:
        equations = [equations] if single else list(equations)
    except TypeError:
        equations = [equations]
    if not equations:
        raise ValueError("equations must contain at least one equation.")
    for equation in equations:
        if not isinstance(equation, (str, Polynomial)):
            raise TypeError(
                f"an equation must be a string or a Polynomial; got {type(equation).__name__}."
            )
    tokens = {e: _tokens(e) for e in equations if isinstance(e, str)}
    given = [e for e in equations if isinstance(e, Polynomial)]
    if names is not None:
        names = [names] if isinstance(names, str) else list(names)
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"names must be strings; got {names!r}.")
        if not names or len(set(names)) < len(names):
            raise ValueError(f"names must be different from each other; got {names!r}.")
    elif given:
        names = list(given[0].feature_names)
    else:
        used = [token for listed in tokens.values() for kind, token in listed if kind == "name"]
        names = default_names(_n_variables(used))
    for polynomial in given:
        if polynomial.terms.shape[1] != len(names):
            raise ValueError(
                f"the polynomial {polynomial} has {polynomial.terms.shape[1]} variables, but there "
                f"are {len(names)} names."
            )
    polynomials = []
    for equation in equations:
        if isinstance(equation, str):
            equation = _Reader(equation, tokens[equation], names).polynomial()
        largest = np.abs(equation.coef).max(initial=0.0)
        if not np.isfinite(largest):
            raise ValueError(f"the coefficients of {equation} must be finite.")
        polynomials.append(Polynomial(equation.terms, equation.coef / (largest or 1.0)))
    return polynomials


def _tokens(text: str) -> list[tuple[str, str]]:
    """Split an equation into (kind, token), without the white space."""
    matches = [(str(match.lastgroup), match.group()) for match in _TOKEN.finditer(text)]
    return [(kind, token) for kind, token in matches if kind != "space"]


def _n_variables(used: list[str]) -> int:
    """Return the number of variables x0, x1, ... up to the last one used."""
    places = [int(name[1:]) for name in used if re.fullmatch(r"x[0-9]{1,9}", name)]
    if not places:
        raise ValueError("the equations contain none of the variables x0, x1, ...; pass names.")
    if max(places) >= _MAX_VARIABLES:
        raise ValueError(f"x{max(places)} is one of more than {_MAX_VARIABLES} variables.")
    return max(places) + 1


class _Reader:
    """Reads one equation by recursive descent; nothing is evaluated as Python.

    equation = sum ["=" sum];  sum = product {("+" | "-") product};  product = factor {"*" factor};
    factor = {"+" | "-"} atom ["^" integer];  atom = number | name | "(" sum ")"

    A polynomial is a dict from exponents to coefficients while it is read.
    """

    def __init__(self, text: str, tokens: list[tuple[str, str]], names: list[str]):
        self.text = text if len(text) <= 60 else f"{text[:57]}..."
        self.tokens = [*tokens, ("end", "the end")]
        self.place = 0
        self.names = names
        self.constant = (0,) * len(names)

    def polynomial(self) -> Polynomial:
        try:
            terms = self.equation()
        except RecursionError:
            self.fail("the brackets are nested too deeply")
        # DegLex order, as everywhere.
        order = sorted(terms, key=lambda term: (sum(term), term[::-1])) or [self.constant]
        return Polynomial(order, [terms.get(term, 0.0) for term in order], feature_names=self.names)

    def equation(self):
        value = self.sum()
        if self.take("=", "=="):
            value = self.add(value, self.sum(), -1.0)
        if self.tokens[self.place][0] != "end":
            self.fail(f"{self.tokens[self.place][1]!r} is not expected there")
        return value

    def sum(self):
        value = self.product()
        while sign := self.take("+", "-"):
            value = self.add(value, self.product(), 1.0 if sign == "+" else -1.0)
        return value

    def product(self):
        value = self.factor()
        while self.take("*"):
            value = self.multiply(value, self.factor())
        return value

    def factor(self):
        sign = 1.0
        while token := self.take("+", "-"):
            sign = -sign if token == "-" else sign
        value = self.atom()
        if self.take("^", "**"):
            value = self.power(value)
        return {term: sign * coef for term, coef in value.items()}

    def power(self, base):
        _, exponent = self.next()
        if not re.fullmatch("[0-9]{1,3}", exponent) or int(exponent) > _MAX_DEGREE:
            self.fail(f"an exponent must be an integer from 0 to {_MAX_DEGREE}, not {exponent!r}")
        value = {self.constant: 1.0}
        for _ in range(int(exponent)):
            value = self.multiply(value, base)
        return value

    def atom(self):
        kind, token = self.next()
        if kind == "number":
            return {self.constant: float(token)}
        if token == "(":
            value = self.sum()
            if not self.take(")"):
                self.fail("a bracket is not closed")
            return value
        if kind != "name":
            self.fail(f"a number, a variable or a bracket is expected in place of {token!r}")
        # Names that are not a word are written in brackets, as polynomials print them.
        name = token[1:-1] if token.startswith("[") else token
        if name not in self.names:
            listed = ", ".join(self.names[:10]) + (", ..." if len(self.names) > 10 else "")
            self.fail(f"{name!r} is not one of the variables {listed}")
        at = self.names.index(name)
        return {tuple(int(i == at) for i in range(len(self.names))): 1.0}

    def add(self, left, right, factor):
        total = dict(left)
        for term, coef in right.items():
            total[term] = total.get(term, 0.0) + factor * coef
        return {term: coef for term, coef in total.items() if coef != 0}

    def multiply(self, left, right):
        if len(left) * len(right) > _MAX_PRODUCTS:
            self.fail("it has too many terms")
        total = {}
        for term, coef in left.items():
            for other, factor in right.items():
                key = tuple(a + b for a, b in zip(term, other, strict=True))
                total[key] = total.get(key, 0.0) + coef * factor
        if any(sum(term) > _MAX_DEGREE for term in total):
            self.fail(f"its degree exceeds {_MAX_DEGREE}")
        return total

    def take(self, *signs) -> str:
        """Go past the next token if it is one of the signs."""
        kind, token = self.tokens[self.place]
        if kind != "sign" or token not in signs:
            return ""
        self.place += 1
        return token

    def next(self) -> tuple[str, str]:
        """Go past the next token, whatever it is."""
        kind, token = self.tokens[self.place]
        self.place += kind != "end"
        return kind, token

    def fail(self, problem: str):
        raise ValueError(f"cannot read the equation {self.text!r}: {problem}.")
