"""Ten mistakes that a type checker reports; each line says by which kind of error."""

import numpy as np

from vanishing import OAVI, LawFinder, VanishingClassifier, VanishingOutlierDetector, load

X = np.ones((10, 2))
LawFinder(max_degree="three")  # arg-type
LawFinder(degree=3)  # call-arg
LawFinder().fit("table.csv")  # arg-type
print(LawFinder().fit(X).laws)  # attr-defined
LawFinder().fit(X).laws_[0].solve(0)  # arg-type
OAVI(border="groebner")  # arg-type
OAVI().fit(X, sample_weights=[1.0] * 10)  # call-arg
load("model.json", LawFinder).predict_proba(X)  # attr-defined
error: str = VanishingClassifier().fit(X, [0, 1] * 5).sparsity_  # assignment
VanishingOutlierDetector().fit(X).explain(X)[0][0]["colums"]  # typeddict-item
