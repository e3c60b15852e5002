"""OAVI and its relatives beside each other, psi = 0.001: times, sizes, sparsity and errors."""

import time

from sklearn.base import clone

from vanishing import ABM, AVI, OAVI, VCA, VanishingClassifier, VanishingFeatures

from .data import NAMES, halves

PSI = 0.001
ALGORITHMS = {
    "OAVI pcg": OAVI(PSI),
    "PCGAVI": OAVI(PSI, certify=False, refit=False),
    "OAVI omp": OAVI(PSI, oracle="omp"),
    "OAVI ls": OAVI(PSI, oracle="ls"),
    "BB-ABM": OAVI(PSI, oracle="ls", border="bb"),
    "ABM": ABM(PSI),
    "ABM bb": ABM(PSI, border="bb"),
    "AVI": AVI(PSI),
    "VCA": VCA(PSI),
    "VCA l2, d <= 3": VCA(PSI, normalization="l2", max_degree=3),
}


class Family:
    """Generators of all classes of the training rows."""

    params = (NAMES, tuple(ALGORITHMS))
    param_names = ("data", "algorithm")
    timer = time.process_time

    def setup(self, name, algorithm):
        self.X, self.X_test, self.y, self.y_test = halves(name)
        self.algorithm = clone(ALGORITHMS[algorithm])
        self.features = VanishingFeatures(self.algorithm).fit(self.X, self.y)
        self.time_transform()

    def time_fit(self, *_):
        self.features.fit(self.X, self.y)

    def time_transform(self, *_):
        self.features.transform(self.X_test)

    def track_generators(self, *_):
        return self.features.n_generators_

    track_generators.unit = "|G|"

    def track_terms(self, *_):
        return self.features.n_terms_

    track_terms.unit = "|O|"

    def track_sparsity(self, *_):
        return self.features.sparsity_

    track_sparsity.unit = "share of zeros"

    def track_error(self, *_):
        """Track the share of other rows that the classifier with C = 10, not tuned, gets wrong."""
        model = VanishingClassifier(self.algorithm, C=10.0).fit(self.X, self.y)
        return 100.0 * (1.0 - model.score(self.X_test, self.y_test))

    track_error.unit = "%"
