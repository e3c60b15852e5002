"""The classifiers, untuned and tuned: fits and predictions."""

import time

from vanishing import VanishingClassifier, VanishingClassifierCV

from .data import NAMES, halves, labelled
from .measure import in_turns

KINDS = {"untuned": VanishingClassifier, "tuned": VanishingClassifierCV}


class Classifier:
    """Fits to the training rows, and predictions of the others."""

    params = ((*NAMES[:1], "digits", "showers", *NAMES[1:]), tuple(KINDS))
    param_names = ("data", "kind")
    timer = time.process_time

    def setup(self, name, kind):
        self.X, self.X_test, self.y, _ = halves(name)
        self.model = KINDS[kind]()
        VanishingClassifier().fit(*labelled("iris"))

    def time_fit(self, *_):
        self.model.fit(self.X, self.y)

    def track_predict(self, *_):
        self.model.fit(self.X, self.y)
        (seconds,) = in_turns(lambda: self.model.predict(self.X_test), repeat=5)
        return 1e9 * seconds / len(self.X_test)

    track_predict.unit = "ns per row"
