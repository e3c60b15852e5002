"""Twenty loops of programs, with the equations that their variables keep.

Ten are those that `loop_invariants` was built with, ten were held apart until it was done. A row
of a trace holds the variables each time the loop begins, and once more when it has ended.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

Row = tuple[int, ...]


class Loop(NamedTuple):
    """A loop: its variables, how it runs, inputs for it, and equations that it keeps."""

    name: str
    variables: str
    run: Callable[..., Iterator[Row]]
    inputs: Callable[[np.random.Generator, int], tuple[int, ...]]
    invariants: tuple[str, ...]

    def trace(self, random: np.random.Generator, n_runs: int, size: int, longest: int) -> list[Row]:
        """Return the rows of some runs with random inputs up to a size."""
        rows: list[Row] = []
        for _ in range(n_runs):
            rows += islice(self.run(*self.inputs(random, size)), longest)
        return rows


def _two(random, size):
    return int(random.integers(1, size)), int(random.integers(1, size))


def _one(random, size):
    return (int(random.integers(size // 4, size)),)


def _ratio(random, size):
    return int(random.integers(2, 10)), int(random.integers(1, 9)), min(size, 12)


# -- Division -------------------------------------------------------------------------------------


def doubled_division(x, y):
    q, r, a, b = 0, x, 0, 0
    yield x, y, q, r, a, b
    while r >= y:
        a, b = 1, y
        while r >= 2 * b:
            yield x, y, q, r, a, b
            a, b = 2 * a, 2 * b
        r, q = r - b, q + a
        yield x, y, q, r, a, b


def counted_division(x1, x2):
    y1, y2, y3 = 0, 0, x1
    yield x1, x2, y1, y2, y3
    while y3:
        y1, y2 = (y1 + 1, 0) if y2 + 1 == x2 else (y1, y2 + 1)
        y3 -= 1
        yield x1, x2, y1, y2, y3


def halved_division(a, b):
    r, d, p, q = a, b, 1, 0
    while r >= d:
        yield a, b, r, d, p, q
        d, p = 2 * d, 2 * p
    while p != 1:
        yield a, b, r, d, p, q
        d, p = d // 2, p // 2
        if r >= d:
            r, q = r - d, q + p
    yield a, b, r, d, p, q


def binary_division(a, b):
    q, r, d = 0, a, b
    while r >= d:
        d = 2 * d
    yield a, b, q, r, d
    while d != b:
        q, d = 2 * q, d // 2
        if r >= d:
            q, r = q + 1, r - d
        yield a, b, q, r, d


# -- Roots ----------------------------------------------------------------------------------------


def root_of_odd_numbers(n):
    a, s, t = 0, 1, 1
    yield n, a, s, t
    while s <= n:
        a, t = a + 1, t + 2
        s += t
        yield n, a, s, t


def root_of_halves(n):
    x, r = n, 0  # twice the x of the program
    yield n, x, r
    while x > 2 * r:
        x, r = x - 2 * r - 2, r + 1
        yield n, x, r


def dijkstras_root(n):
    p, q, r = 0, 1, n
    while q <= n:
        q *= 4
    yield n, p, q, r
    while q != 1:
        q //= 4
        h, p = p + q, p // 2
        if r >= h:
            p, r = p + q, r - h
        yield n, p, q, r


def cube_root(n):
    x, r, s = 4 * n, 1, 13  # x and s are four times those of the program
    yield n, x, r, s
    while x >= s:
        x, s = x - s, s + 24 * r + 12
        r += 1
        yield n, x, r, s


# -- Powers and products --------------------------------------------------------------------------


def cubes(a):
    n, x, y, z = 0, 0, 1, 6
    while n <= a:
        yield n, x, y, z
        n, x, y, z = n + 1, x + y, y + z, z + 6
    yield n, x, y, z


def binary_product(a, b):
    x, y, z = a, b, 0
    yield a, b, x, y, z
    while y:
        if y % 2:
            z, y = z + x, y - 1
        x, y = 2 * x, y // 2
        yield a, b, x, y, z


def product_by_parity(x, y):
    a, b, p, q = x, y, 1, 0
    yield x, y, a, b, p, q
    while a and b:
        if a % 2 == 0 and b % 2 == 0:
            a, b, p = a // 2, b // 2, 4 * p
        elif a % 2 and b % 2 == 0:
            a, q = a - 1, q + b * p
        elif a % 2 == 0:
            b, q = b - 1, q + a * p
        else:
            a, b, q = a - 1, b - 1, q + (a + b - 1) * p
        yield x, y, a, b, p, q


def fermats_factors(n, r):
    n = 2 * n + 1
    u, v = 2 * r + 1, 1
    r = r * r - n
    yield n, u, v, r
    while r:
        if r > 0:
            r, v = r - v, v + 2
        else:
            r, u = r + u, u + 2
        yield n, u, v, r


# -- Common divisors ------------------------------------------------------------------------------


def divisor_with_coefficients(x, y):
    a, b, p, q, r, s = x, y, 1, 0, 0, 1
    yield x, y, a, b, p, q, r, s
    while a != b:
        if a > b:
            a, p, r = a - b, p - q, r - s
        else:
            b, q, s = b - a, q - p, s - r
        yield x, y, a, b, p, q, r, s


def common_multiple(a, b):
    x, y, u, v = a, b, b, 0
    yield a, b, x, y, u, v
    while x != y:
        if x > y:
            x, v = x - y, v + u
        else:
            y, u = y - x, u + v
        yield a, b, x, y, u, v


# -- Sums -----------------------------------------------------------------------------------------


def power_sum(exponent):
    def run(k):
        y = x = 0
        yield k, y, x
        while y < k:
            y += 1
            x += y**exponent
            yield k, y, x

    return run


def geometric_series(z, a, k):
    x, y = 1, z
    for _ in range(k):
        yield z, x, y
        x, y = x * z + 1, y * z


def scaled_geometric_series(z, a, k):
    x, y = a, 1
    for _ in range(k):
        yield z, a, x, y
        x, y = x * z + a, y * z


BUILT_WITH = (
    Loop("division, doubled", "x y q r a b", doubled_division, _two, ("x - q*y - r", "b - a*y")),
    Loop("division, counted", "x1 x2 y1 y2 y3", counted_division, _two, ("y1*x2 + y2 + y3 - x1",)),
    Loop("square root", "n a s t", root_of_odd_numbers, _one, ("t - 2*a - 1", "s - (a + 1)^2")),
    Loop(
        "cubes",
        "n x y z",
        cubes,
        _one,
        ("x - n^3", "y - 3*n^2 - 3*n - 1", "z - 6*n - 6"),
    ),
    Loop("product, binary", "a b x y z", binary_product, _two, ("z + x*y - a*b",)),
    Loop(
        "divisor with coefficients",
        "x y a b p q r s",
        divisor_with_coefficients,
        _two,
        ("a - x*p - y*r", "b - x*q - y*s", "p*s - r*q - 1"),
    ),
    Loop("common multiple", "a b x y u v", common_multiple, _two, ("x*u + y*v - a*b",)),
    Loop("sum of numbers", "k y x", power_sum(1), _one, ("2*x - y^2 - y",)),
    Loop("sum of cubes", "k y x", power_sum(3), _one, ("4*x - y^4 - 2*y^3 - y^2",)),
    Loop("geometric series", "z x y", geometric_series, _ratio, ("x*z - x - y + 1",)),
)

HELD_APART = (
    Loop("division, halved", "a b r d p q", halved_division, _two, ("a - q*b - r", "d - b*p")),
    Loop("division, binary", "a b q r d", binary_division, _two, ("a - q*d - r",)),
    Loop("square root of halves", "n x r", root_of_halves, _one, ("x + r^2 + r - n",)),
    Loop(
        "Dijkstra's root",
        "n p q r",
        dijkstras_root,
        lambda random, size: (int(random.integers(1, size**2)),),
        ("p^2 - n*q + q*r",),
    ),
    Loop(
        "cube root",
        "n x r s",
        cube_root,
        lambda random, size: (int(random.integers(1, size**2)),),
        ("s - 12*r^2 - 1", "x + 4*r^3 - 6*r^2 + 3*r - 1 - 4*n"),
    ),
    Loop("product by parity", "x y a b p q", product_by_parity, _two, ("q + a*b*p - x*y",)),
    Loop(
        "Fermat's factors",
        "n u v r",
        fermats_factors,
        lambda random, size: (
            int(n := random.integers(4, size)),
            int(np.ceil(np.sqrt(2 * n + 1))),
        ),
        ("4*n + 4*r - u^2 + v^2 + 2*u - 2*v",),
    ),
    Loop("sum of squares", "k y x", power_sum(2), _one, ("6*x - 2*y^3 - 3*y^2 - y",)),
    Loop(
        "sum of fifth powers",
        "k y x",
        power_sum(5),
        _one,
        ("12*x - 2*y^6 - 6*y^5 - 5*y^4 + y^2",),
    ),
    Loop(
        "geometric series, scaled",
        "z a x y",
        scaled_geometric_series,
        _ratio,
        ("x*z - x + a - a*z*y",),
    ),
)
