"""A program of a user, checked in strict mode: every value has a type that is not Any."""

from pathlib import Path

import numpy as np

from vanishing import (
    OAVI,
    ConservedQuantities,
    EquationsOfMotion,
    Law,
    LawFinder,
    Moments,
    VanishingClassifier,
    VanishingClassifierCV,
    VanishingOutlierDetector,
    VanishingRepair,
    check_law,
    load,
    loop_invariants,
    rules_of,
)
from vanishing.datasets import make_motion
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

runs, times, groups = make_motion("predator prey", 2, 60, noise=0.02, random_state=0)
motion = EquationsOfMotion(functions=()).fit(runs, times, groups)
print(motion.equations_, motion.simulate([10.0, 5.0], np.linspace(0.0, 5.0, 20)))
print(motion.simulate([10.0, 5.0], [0.0, 1.0], return_std=True)[1], motion.predict(runs))

X[:, 2] = X[:, 0] * X[:, 1]
repair = VanishingRepair().fit(X)
print(repair.transform(X), repair.laws_, repair.report(X)[:3])
rules = rules_of(repair.laws_, X)
print(rules.check(X), rules.to_sql("readings"))
print(loop_invariants([[k, k * k] for k in range(9)])[0].coef)
