"""What is known of the paper's six data sets, and what a file or a download of each must hold."""

from typing import NamedTuple

import numpy as np


class Dataset(NamedTuple):
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
        """The number of rows."""
        return sum(self.classes.values())

    @property
    def n_features(self) -> int:
        """The number of columns but the class."""
        return len(self.feature_names)

    @property
    def url(self) -> str:
        """The page on OpenML."""
        return f"https://www.openml.org/d/{self.openml_id}"

    @property
    def description(self) -> str:
        """What the rows, columns and classes are, and where they come from."""
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

DATASETS = {
    "bank": Dataset(
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
    "credit": Dataset(
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
    "htru": Dataset(
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
    "seeds": Dataset(
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
    "skin": Dataset(
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
    "spam": Dataset(
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


def require(condition, where, problem: str) -> None:
    """Raise ValueError unless a condition holds of what was found somewhere."""
    if not condition:
        raise ValueError(f"{where} does not hold the data set it should: {problem}.")


def check_rows(where, data, target, expected: Dataset) -> None:
    """Check what a file and a download of a data set have in common."""
    require(np.isfinite(data).all(), where, "there are NaN or infinite values")
    counts = np.bincount(target).tolist()
    require(
        counts == list(expected.classes.values()),
        where,
        f"expected {list(expected.classes.values())} rows of the classes, found {counts}",
    )
