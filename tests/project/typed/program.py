"""A program of a user, checked in strict mode: every value has a type that is not Any."""

from pathlib import Path

import numpy as np

from vanishing import (
    OAVI,
    ConservedQuantities,
    Law,
    LawFinder,
    Moments,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingOutlierDetector,
    check_law,
    load,
)
from vanishing.polynomials import parse_polynomial

X = np.random.default_rng(0).uniform(1.0, 2.0, size=(200, 3))
y = X[:, 0] * X[:, 1] / X[:, 2]

finder = LawFinder(max_degree=3, functions=("log",), units=None).fit(X, y)
law = finder.laws_[0]
solved = law.solve("x2")
print(finder.verdict_, law.coef_std, law.error, solved.predict(np.c_[X, y]), finder.predict(X))
checked: Law = check_law("y = x0*x1/x2", X, y)
print(checked.constants, checked.to_latex(), checked.residual(X, y))

finder.save(Path("law.json"))
again = load("law.json", LawFinder)
print(again.front_, again.noise_, again.score(X, y), load("law.json"))

generators = OAVI(psi=0.01, tau="auto").fit(X).generators_
print(generators[0].degree, generators[0](X), generators[0].equation(), len(generators[:3]))
moments = Moments(3, max_degree=2).update(X)
moments.save("moments.json")
print(OAVI(psi=0.1).fit_moments(moments).n_generators_, moments.estimate_noise())
print(parse_polynomial("x0^2 - 1").gradient(X[:, :1]))

costs = {"a": 1.0, "b": 2.0}
classifier = VanishingClassifier(psi=0.01, class_weight=costs).fit(X.tolist(), ["a", "b"] * 100)
print(classifier.predict(X), classifier.predict_proba(X), classifier.explain(X)[0][0]["weight"])
search = VanishingClassifierCV(cv=3, psis=np.array([0.1, 0.01])).fit(X, y > 1.5)
print(search.best_params_, search.best_score_, search.classifier_.n_generators_)

detector = VanishingOutlierDetector(false_alarm_rate=0.01).fit(X)
print(detector.laws_, detector.p_values(X), detector.explain(X)[0][0]["columns"])
quantities = ConservedQuantities(max_degree=2).fit(X, groups=[0, 1] * 100)
print(quantities.quantities_, quantities.transform(X), quantities.n_independent_)
