"""Cases of golden.py: models in files, exports, notebooks, bounds and inspection."""

import json
import re
from functools import cache
from pathlib import Path

import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import vanishing
from golden_cases.asking import answers
from golden_cases.classification import CLASSIFIERS, SEARCHES
from golden_cases.laws import DETECTOR, GAS_UNITS
from golden_cases.tables import (
    CYLINDERS,
    FLOW,
    FLOW_NAMES,
    IRIS,
    IRIS_LABELS,
    IRIS_SCALED,
    POINTS,
    SURFACE,
    SURFACE_NAMES,
    TWO,
    WORDS,
    case,
    circle,
    gas,
    motion,
)
from vanishing import (
    ABM,
    AVI,
    OAVI,
    VCA,
    Blocks,
    BuchbergerMoller,
    ConservedQuantities,
    ContrastiveVanishing,
    L1SquaredHingeSVC,
    LawFinder,
    VanishingClassifier,
    VanishingFeatures,
    check_law,
)

# -- Files, exports, inspection -------------------------------------------------------------------


@cache
def _mover():
    table, groups = motion()
    return ConservedQuantities(2).fit(table, groups=groups)


MODELS = {
    "oavi": lambda: OAVI(0.002).fit(pd.DataFrame(SURFACE, columns=SURFACE_NAMES)),
    "abm": lambda: ABM(0.002).fit(SURFACE),
    "avi": lambda: AVI(0.002, max_degree=3).fit(SURFACE),
    "vca": lambda: VCA(0.002).fit(SURFACE),
    "exact": lambda: BuchbergerMoller().fit(POINTS),
    "contrastive": lambda: VanishingClassifier(ContrastiveVanishing()).fit(IRIS, IRIS_LABELS),
    "features": lambda: VanishingFeatures().fit(CYLINDERS, WORDS),
    "classifier": lambda: VanishingClassifier(C=10.0).fit(IRIS, IRIS_LABELS),
    "quantile": lambda: VanishingClassifier(scale="quantile").fit(CYLINDERS, WORDS),
    "log": lambda: VanishingClassifier(scale="log").fit(CYLINDERS, TWO),
    "two": lambda: VanishingClassifier(OAVI(0.01)).fit(CYLINDERS, TWO),
    "logistic": lambda: CLASSIFIERS["logistic"].fit(IRIS, IRIS_LABELS),
    "search": lambda: clone(SEARCHES["grid"]).fit(CYLINDERS, WORDS),
    "svm": lambda: L1SquaredHingeSVC().fit(IRIS_SCALED, IRIS_LABELS),
    "pipeline": lambda: make_pipeline(MinMaxScaler(), OAVI()).fit(IRIS),
    "laws": lambda: LawFinder(max_degree=3, units=GAS_UNITS).fit(*gas()),
    "law": lambda: check_law("p*V = R*n*T", *gas()),
    "laws of all": lambda: LawFinder(max_degree=2).fit(circle()),
    "detector": lambda: clone(DETECTOR).fit(pd.DataFrame(FLOW, columns=FLOW_NAMES)),
    "motion": _mover,
    "quantity": lambda: _mover().quantities_[0],
}
ROWS = {"oavi": SURFACE, "abm": SURFACE, "avi": SURFACE, "vca": SURFACE, "detector": FLOW}
ROWS |= dict.fromkeys(["features", "quantile", "log", "two", "search"], CYLINDERS)
ROWS |= {"laws": gas()[0], "motion": motion()[0], "svm": IRIS_SCALED}


def _file(name):
    model = MODELS[name]()
    vanishing.save(model, "model.json")
    document = json.loads(Path("model.json").read_text())
    del document["sha256"]  # of the rest
    again = vanishing.load("model.json")
    asked = ROWS.get(name, IRIS)[:9]
    return {"file": document, "again": again, "answers": answers(again, asked)}


def _export(name, language):
    return getattr(vanishing.export, f"to_{language}")(MODELS[name]())


def _notebook(name):
    """Return how a model looks in a notebook, without scikit-learn's diagram."""
    return re.sub(r"<body>.*?</body>", "", MODELS[name]()._repr_html_(), flags=re.DOTALL)


for _name in MODELS:
    case(f"files/model/{_name}", _name)(_file)
    for _language in ("python", "c", "sql"):
        case(f"export/{_language}/{_name}", _name, _language)(_export)
    case(f"html/notebook/{_name}", _name)(_notebook)

for _name in ("oavi", "abm", "vca", "features", "classifier", "search", "log", "two"):
    case(f"bounds/of/{_name}")(lambda name=_name: vanishing.bounds.of(MODELS[name]()))
case("bounds/rows/classifier")(
    lambda: [vanishing.bounds.of(MODELS["two"](), CYLINDERS, TWO, rho=r) for r in (None, 1)]
)
case("bounds/rows/oavi")(lambda: vanishing.bounds.of(MODELS["oavi"](), SURFACE, delta=0.1))

inspection = vanishing.inspection
for _name in ("features", "classifier", "search", "log", "pipeline"):
    _X = ROWS.get(_name, IRIS)
    case(f"inspection/anatomy/{_name}")(lambda name=_name: inspection.anatomy(MODELS[name]()))
    case(f"inspection/importances/{_name}")(
        lambda name=_name, X=_X: inspection.importances(MODELS[name](), X)
    )
case("inspection/laws/anatomy")(lambda: inspection.law_anatomy(MODELS["laws"]()))
case("inspection/laws/rows")(lambda: inspection.law_rows(MODELS["law"](), *gas()))
case("inspection/laws/unexplained")(
    lambda: inspection.unexplained(inspection.law_rows(MODELS["law"](), *gas()))
)
case("inspection/laws/constants")(lambda: inspection.constants_of(MODELS["law"]()))
case("inspection/outliers/rows")(
    lambda: inspection.outlier_rows(
        MODELS["detector"](), pd.DataFrame(FLOW, columns=FLOW_NAMES), top=3
    )
)
case("inspection/motion/rows")(lambda: inspection.motion_rows(_mover(), *motion()))
case("blocks/file/csv")(lambda: _blocks_of_a_file("csv"))
case("blocks/file/parquet")(lambda: _blocks_of_a_file("parquet"))


@case("blocks/file/labels 01 and 1")
def labels_of_numbers():
    Path("labels.csv").write_text(
        "a,b,k\n" + "".join(f"{i},{i * i},{'01'[i % 2 :]}\n" for i in range(9))
    )
    return list(Blocks.from_csv("labels.csv", target="k", rows=4))


def _blocks_of_a_file(kind):
    table = pd.DataFrame(CYLINDERS, columns=SURFACE_NAMES).assign(label=WORDS)
    getattr(table, f"to_{kind}")(f"table.{kind}", index=False)
    read = getattr(Blocks, f"from_{kind}")
    labelled = read(f"table.{kind}", target="label", rows=50)
    model = VanishingClassifier().fit(labelled)
    some = read(f"table.{kind}", columns=["c", "a"], rows=50)
    return {"model": model, "labelled": list(labelled), "fit": OAVI(0.01).fit(some), "some": some}
