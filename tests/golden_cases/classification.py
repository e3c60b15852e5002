"""Cases of golden.py: features, classifiers, searches and the linear SVM."""

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from golden_cases.asking import answers, attempt, fit_and_ask, fit_kind
from golden_cases.tables import (
    CYLINDERS,
    FEW_KINDS,
    IRIS,
    IRIS_LABELS,
    IRIS_SCALED,
    KINDS,
    THREE,
    TWO,
    WEIGHTS,
    WINE,
    WINE_LABELS,
    WORDS,
    case,
    rows,
)
from vanishing import (
    ABM,
    OAVI,
    VCA,
    ContrastiveVanishing,
    L1SquaredHingeSVC,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingFeatures,
)

# -- Classification -------------------------------------------------------------------------------

FEATURES = {
    "default": VanishingFeatures(),
    "oavi": VanishingFeatures(OAVI(0.002, max_degree=3)),
    "vca": VanishingFeatures(VCA(0.01, max_degree=2)),
    "contrastive": VanishingFeatures(ContrastiveVanishing()),
}
for _name, _model in FEATURES.items():
    case(f"features/{_name}/array", _model, CYLINDERS, WORDS, asked=CYLINDERS[:9])(fit_and_ask)
    for _kind in FEW_KINDS:
        case(f"features/{_name}/{_kind}", _model, _kind, CYLINDERS, THREE, WEIGHTS)(fit_kind)
case("features/path/array")(
    lambda: list(VanishingFeatures(OAVI()).path(CYLINDERS, THREE, psis=[0.01, 0.002]))
)

CLASSIFIERS = {
    "default": VanishingClassifier(),
    "oavi C 10": VanishingClassifier(OAVI(0.002, max_degree=3), C=10.0),
    "psi": VanishingClassifier(psi=0.01),
    "abm": VanishingClassifier(ABM(0.002, max_degree=3)),
    "vca": VanishingClassifier(VCA(0.01, max_degree=2)),
    "contrastive": VanishingClassifier(ContrastiveVanishing()),
    "unscaled": VanishingClassifier(scale=False),
    "quantile": VanishingClassifier(scale="quantile"),
    "log": VanishingClassifier(scale="log"),
    "standard": VanishingClassifier(scale=StandardScaler()),
    "not clipped": VanishingClassifier(clip=False),
    "balanced": VanishingClassifier(class_weight="balanced"),
    "logistic": VanishingClassifier(final_estimator=LogisticRegression()),
}


def _classify(model, X, y, **options):
    model = clone(model).fit(X, y, **options)
    found = {"model": model, **answers(model, X[::9]), "score": model.score(X, y)}
    found["explain"] = attempt(model.explain, X[:4])
    return {**found, "table": attempt(model.explain, X[:2], table=True)}


for _name, _model in CLASSIFIERS.items():
    case(f"classifier/iris/{_name}", _model, IRIS, IRIS_LABELS)(_classify)
    case(f"classifier/words/{_name}", _model, CYLINDERS, WORDS, sample_weight=WEIGHTS)(_classify)
case("classifier/other/wine", VanishingClassifier(C=10.0), WINE, WINE_LABELS)(_classify)
case("classifier/other/two", VanishingClassifier(), CYLINDERS, TWO)(_classify)
case(
    "classifier/other/weights", VanishingClassifier(class_weight={0: 2.0, 1: 1.0}), CYLINDERS, TWO
)(_classify)
case(
    "classifier/other/pipeline",
    make_pipeline(MinMaxScaler(), VanishingClassifier(scale=False)),
    IRIS,
    IRIS_LABELS,
)(fit_and_ask)
for _name in ("default", "quantile", "log", "not clipped", "logistic", "contrastive"):
    for _kind in KINDS if _name == "default" else FEW_KINDS:
        _model = CLASSIFIERS[_name]
        case(f"classifier/kinds/{_name}/{_kind}", _model, _kind, CYLINDERS, THREE)(fit_kind)
for _kind in FEW_KINDS:
    _default = CLASSIFIERS["default"]
    case(f"classifier/kinds/weights/{_kind}", _default, _kind, CYLINDERS, WORDS, WEIGHTS)(fit_kind)


def _predict(kind):
    model = VanishingClassifier().fit(rows("frame", CYLINDERS), WORDS)
    return answers(model, rows(kind, CYLINDERS))


for _kind in KINDS:
    case(f"classifier/predict/{_kind}", _kind)(_predict)

SEARCHES = {
    "default": VanishingClassifierCV(),
    "grid": VanishingClassifierCV(OAVI(max_degree=3), psis=(0.05, 0.005), Cs=(1.0, 10.0), cv=3),
    "scoring": VanishingClassifierCV(
        psis=(0.01,), Cs=(1.0, 100.0), scoring="balanced_accuracy", scale=True, cv=4
    ),
    "balanced": VanishingClassifierCV(psis=(0.01,), Cs=(1.0,), class_weight="balanced", clip=False),
    "abm": VanishingClassifierCV(ABM(max_degree=2), psis=(0.01,), Cs=(1.0, 10.0)),
}
for _name, _model in SEARCHES.items():
    case(f"search/words/{_name}", _model, CYLINDERS, WORDS)(_classify)
case("search/iris/default", SEARCHES["default"], IRIS, IRIS_LABELS)(_classify)
case("search/weights/grid", SEARCHES["grid"], CYLINDERS, TWO, sample_weight=WEIGHTS)(_classify)
for _kind in FEW_KINDS:
    case(f"search/kinds/{_kind}", SEARCHES["grid"], _kind, CYLINDERS, THREE)(fit_kind)

for _name, _svm in {
    "default": L1SquaredHingeSVC(),
    "balanced": L1SquaredHingeSVC(C=10.0, class_weight="balanced"),
    "no intercept": L1SquaredHingeSVC(fit_intercept=False, tol=1e-6),
    "starved": L1SquaredHingeSVC(max_iter=2, tol=1e-10),
}.items():
    case(f"svm/iris/{_name}", _svm, IRIS_SCALED, IRIS_LABELS)(fit_and_ask)
    case(f"svm/weights/{_name}", _svm, CYLINDERS, TWO, sample_weight=WEIGHTS)(fit_and_ask)
