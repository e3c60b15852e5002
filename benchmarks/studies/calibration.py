"""Calibration: errors of the offset of a simulated magnetometer, beside the Li-Griffiths fit.

Readings are 500 points on an ellipsoid about a sphere of radius 50, whole or half, with noise and
wrong rows. ``errors``: the median and the largest error of the offset. ``coverage``: how often an
entry of the centre is within two standard errors.

    python benchmarks/studies/calibration.py [errors] [coverage] [--seeds 12] [--draws 300]
"""

import argparse
import time
import warnings

import numpy as np
from scipy.linalg import eig

from vanishing import EllipsoidCalibration

RADIUS, ROWS = 50.0, 500
CASES = {
    "whole": {},
    "whole, 1 % wrong": {"wrong": 0.01},
    "whole, 5 % wrong": {"wrong": 0.05},
    "half": {"half": True},
    "half, noise 2": {"half": True, "noise": 2.0},
    "half, 5 % wrong": {"half": True, "wrong": 0.05},
}


def readings(seed, noise=0.5, wrong=0.0, half=False, soft=0.08):
    """Return readings and the offset."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(ROWS, 3))
    u /= np.linalg.norm(u, axis=1)[:, np.newaxis]
    if half:
        u[:, 2] = np.abs(u[:, 2])
    G = soft * rng.normal(size=(3, 3))
    offset = rng.uniform(-30, 30, 3)
    X = offset + RADIUS * u @ (np.eye(3) + (G + G.T) / 2) + noise * rng.normal(size=u.shape)
    bad = rng.random(ROWS) < wrong
    X[bad] = offset + rng.uniform(-2 * RADIUS, 2 * RADIUS, (bad.sum(), 3))
    return X, offset


def li_griffiths(X):
    """Return the centre of the least-squares ellipsoid of Li and Griffiths (2004), k = 4."""
    scale = np.abs(X).max()
    x, y, z = X.T / scale
    D = np.column_stack(
        [x * x, y * y, z * z, 2 * y * z, 2 * x * z, 2 * x * y, 2 * x, 2 * y, 2 * z, np.ones_like(x)]
    )
    S = D.T @ D
    k = 4.0
    C = np.zeros((6, 6))
    C[:3, :3] = k / 2 - 1
    np.fill_diagonal(C[:3, :3], -1.0)
    C[3:, 3:] = -k * np.eye(3)
    S11, S12, S22 = S[:6, :6], S[:6, 6:], S[6:, 6:]
    reduced = S11 - S12 @ np.linalg.solve(S22, S12.T)
    values, vectors = eig(np.linalg.solve(C, reduced))
    v1 = np.real(vectors[:, np.argmax(np.real(values))])
    v2 = -np.linalg.solve(S22, S12.T @ v1)
    a, b, c, f, g, h = v1
    A = np.array([[a, h, g], [h, b, f], [g, f, c]])
    return -np.linalg.solve(A, v2[:3]) * scale


def run_errors(n_seeds, soft):
    heads = ["readings", "median", "largest", "not determined", "Li-Griffiths", "largest", "s"]
    print(f"error of the offset over {n_seeds} seeds, soft iron {soft:g}\n")
    print("|", " | ".join(heads), "|\n" + "| --- " * len(heads) + "|")
    for name, options in CASES.items():
        ours, usual, lost, seconds = [], [], 0, 0.0
        for seed in range(n_seeds):
            X, offset = readings(seed, soft=soft, **options)
            start = time.perf_counter()
            model = EllipsoidCalibration().fit(X)
            seconds += time.perf_counter() - start
            lost += not model.is_determined_
            ours.append(np.linalg.norm(model.center_ - offset))
            usual.append(np.linalg.norm(li_griffiths(X) - offset))
        numbers = [np.median(ours), np.max(ours), lost, np.median(usual), np.max(usual)]
        cells = [name, *(f"{n:.3g}" for n in numbers), f"{seconds / n_seeds:.2f}"]
        print("|", " | ".join(cells), "|", flush=True)


def run_coverage(n_draws, soft):
    print(
        f"\nentries of the centre within 2 standard errors, {n_draws} draws, soft iron {soft:g}\n"
    )
    for name, options in CASES.items():
        covered, errors = [], []
        for seed in range(1000, 1000 + n_draws):
            X, offset = readings(seed, soft=soft, **options)
            model = EllipsoidCalibration().fit(X)
            covered.append(np.abs(model.center_ - offset) <= 2 * model.center_std_)
            errors.append(np.linalg.norm(model.center_ - offset))
        share = 100 * np.mean(covered)
        print(f"{name}: {share:.1f} %, median error {np.median(errors):.3g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["errors", "coverage"])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--soft", type=float, default=0.08)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if "errors" in arguments.what:
        run_errors(arguments.seeds, arguments.soft)
    if "coverage" in arguments.what:
        run_coverage(arguments.draws, arguments.soft)


if __name__ == "__main__":
    main()
