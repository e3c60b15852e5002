"""A network cut after one of its layers: what may stand in place of the rest?

A network with three hidden layers learns scikit-learn's digits. Cut after layer 0 (the pixels), 1,
2 or 3, the rest is replaced by a linear head on the latent rows, or by principal components,
`VanishingFeatures` and a linear head, as fitted and trained further in PyTorch. Seven random
splits, half of the rows to learn from. Settings were chosen on the training rows of another split,
most of which are test rows of some split here. Accuracy in per cent on the other half with its
standard error, numbers that are not zero, and time of the processor, one thread: seconds of the
fit, and milliseconds for 1,000 rows.

    python benchmarks/studies/cut_network.py [--splits 7] [--out FILE]
"""

import argparse
import csv
import time
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

from vanishing import OAVI, L1SquaredHingeSVC, VanishingFeatures
from vanishing.export import to_torch

LAYERS = (64, 64, 64)
# Chosen on the training rows of split 0.
N_COMPONENTS, PSI, MAX_GENERATORS = 12, 0.003, 20
STEPS, RATE = 200, 1e-3  # of further training


class Result(NamedTuple):
    """One head in place of the layers behind a cut."""

    split: int
    cut: int
    head: str
    accuracy: float  # per cent
    numbers: int
    seconds: float  # of the processor, for the fit
    milliseconds: float  # for 1,000 rows


def latent(network, X, cut):
    """Return rows as they leave the first layers of a network."""
    for weights, shift in list(zip(network.coefs_, network.intercepts_, strict=True))[:cut]:
        X = np.maximum(X @ weights + shift, 0.0)
    return X


def rest_of(network, cut):
    """Return the layers behind a cut as a function of latent rows, and how many numbers it has."""
    layers = list(zip(network.coefs_, network.intercepts_, strict=True))[cut:]

    def scores(X):
        for weights, shift in layers[:-1]:
            X = np.maximum(X @ weights + shift, 0.0)
        weights, shift = layers[-1]
        return X @ weights + shift

    return scores, sum(weights.size + shift.size for weights, shift in layers)


def timed(scores, X):
    """Return milliseconds for 1,000 rows: the best of several."""
    X = np.tile(X, (2, 1))[:1000]
    best = np.inf
    for _ in range(5):  # several times in a row, for the clock is coarse
        began = time.process_time()
        for _ in range(10):
            scores(X)
        best = min(best, time.process_time() - began)
    return 1000 * best / 10


def vanishing_head(X, y):
    """Return principal components, generators and an SVM of latent rows, and how many numbers."""
    components = make_pipeline(PCA(N_COMPONENTS, random_state=0), MinMaxScaler((-1, 1))).fit(X)
    features = VanishingFeatures(OAVI(PSI, max_degree=2), max_generators=MAX_GENERATORS)
    head = make_pipeline(features, L1SquaredHingeSVC()).fit(components.transform(X), y)
    n_components = (X.shape[1] + 2) * N_COMPONENTS + X.shape[1]  # directions, scaling, means
    return components, head, n_components


def numbers_of(head):
    """Return how many coefficients and weights a head has that are not zero."""
    return sum(p.numel() for p in to_torch(head, trainable=True).parameters())


def trained_further(head, Z, y):
    """Train all coefficients and weights of a head by cross entropy; return its scores."""
    import torch

    torch.manual_seed(0)
    module = to_torch(head, trainable=True)
    rows, labels = torch.from_numpy(Z), torch.from_numpy(y)
    optimiser = torch.optim.Adam(module.parameters(), lr=RATE)
    for _ in range(STEPS):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(module(rows), labels).backward()
        optimiser.step()
    return lambda X: module(torch.from_numpy(X)).detach().numpy()


def heads(network, X, y, cut):
    """Yield (name, scores of latent rows, numbers, seconds) of what stands behind a cut."""
    yield "network", *rest_of(network, cut), np.nan
    began = time.process_time()
    linear = LogisticRegression(max_iter=5000).fit(X, y)
    seconds = time.process_time() - began
    yield "linear", linear.decision_function, linear.coef_.size + 10, seconds
    began = time.process_time()
    components, head, n_components = vanishing_head(X, y)
    seconds = time.process_time() - began
    n_numbers = n_components + numbers_of(head)

    def scores(rows):
        return head.decision_function(components.transform(rows))

    yield "vanishing", scores, n_numbers, seconds
    began = time.process_time()
    further = trained_further(head, components.transform(X), y)
    seconds += time.process_time() - began

    def trained(rows):
        return further(components.transform(rows))

    yield "vanishing, trained further", trained, n_numbers, seconds


def split(number):
    """Yield the results of one split."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(
        X / 16.0, y, train_size=0.5, random_state=number, stratify=y
    )
    network = MLPClassifier(LAYERS, alpha=1e-3, max_iter=400, random_state=number).fit(X, y)
    for cut in range(len(LAYERS) + 1):
        rows, test = latent(network, X, cut), latent(network, X_test, cut)
        for name, scores, n_numbers, seconds in heads(network, rows, y, cut):
            right = 100 * np.mean(scores(test).argmax(axis=1) == y_test)
            yield Result(number, cut, name, right, n_numbers, seconds, timed(scores, test))


def table(results):
    """Print means over the splits."""
    names = list(dict.fromkeys(result.head for result in results))
    print("| cut after layer | head | accuracy [%] | numbers | fit [s] | 1,000 rows [ms] |")
    print("| --- | --- | --- | --- | --- | --- |")
    for cut in range(len(LAYERS) + 1):
        for name in names:
            chosen = [r for r in results if (r.cut, r.head) == (cut, name)]
            accuracy = np.array([r.accuracy for r in chosen])
            error = accuracy.std(ddof=1) / np.sqrt(len(accuracy)) if len(accuracy) > 1 else np.nan
            means = [np.mean([getattr(r, key) for r in chosen]) for key in Result._fields[4:]]
            print(
                f"| {cut} | {name} | {accuracy.mean():.1f} ± {error:.1f} | {means[0]:,.0f} | "
                f"{means[1]:.2f} | {means[2]:.2f} |"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=7)
    parser.add_argument("--out", help="a CSV file of all results")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        vanishing_head(*load_digits(return_X_y=True))  # compiles what is not in the cache
        results = [result for i in range(1, options.splits + 1) for result in split(i)]
    table(results)
    if options.out:
        with open(options.out, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([Result._fields, *results])


if __name__ == "__main__":
    main()
