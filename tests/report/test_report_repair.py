"""Reports on a repair: which cells were changed, by which laws; no name is taken for markup."""

import re

import numpy as np
import pandas as pd
import pytest
from pages import HOSTILE, Page, check_page

from vanishing import VanishingRepair
from vanishing.report import write_report
from vanishing.report.settings import CELLS

pytest.importorskip("jinja2")
NAMES = ["flow", "head", "power", "loss"]


def pump(names=NAMES, n=300):
    """Return a pump's table with a gap, a wrong value, and a row that leaves two in doubt."""
    rng = np.random.default_rng(0)
    q, w = rng.uniform(1, 3, size=(2, n))
    X = np.column_stack([q, w, q * w, q**2]) * (1 + 0.002 * rng.normal(size=(n, 4)))
    X[3, 3] = np.nan
    X[8, 0] *= 1.3
    X[12, 2] *= 0.8
    return pd.DataFrame(X, columns=names)


def report(tmp_path, model, X, **options):
    path = write_report(model, X, path=tmp_path / "report.html", **options)
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def fitted():
    table = pump()
    return VanishingRepair().fit(table), table


def test_cells_are_told_with_their_laws(tmp_path, fitted):
    model, table = fitted
    page = report(tmp_path, model, table, data_name="pump.csv")
    check_page(page)
    assert "Repair of pump.csv" in page.words
    assert "1 gap filled and 1 value replaced. 2 values are in doubt" in page.words
    cells = model.report(table)
    assert [cell.kind for cell in cells] == ["gap", "wrong", "ambiguous", "ambiguous"]
    for cell in cells:
        assert f"row {cell.row + 1}" in page.words
        assert cell.law.to_mathml() in page.source
    assert not re.search(r"\b(nan|inf)\b", page.words.partition("Settings")[0])
    assert "x2" not in page.words.partition("Settings")[0]


def test_rows_have_their_names(tmp_path, fitted):
    model, table = fitted
    index = [(i + 1, f"S-{i:03}") for i in range(len(table))]
    words = report(tmp_path, model, table, index=index).words
    assert "row 4 (S-003)" in words and "row 9 (S-008)" in words


def test_nothing_to_repair(tmp_path, fitted):
    model, table = fitted
    page = report(tmp_path, model, table[20:])
    check_page(page)
    assert "nothing to fill, and nothing to replace" in page.words
    assert "was empty" not in page.words


def test_without_laws_gaps_follow_other_rows(tmp_path):
    rows = np.random.default_rng(0).normal(size=(200, 3))
    rows[5, 1] = np.nan
    with pytest.warns(UserWarning, match="no law"):
        model = VanishingRepair().fit(rows)
    page = report(tmp_path, model, rows)
    check_page(page)
    assert "No law is known" in page.words and "none: as in rows like it" in page.words


def test_many_cells_are_cut(tmp_path, fitted):
    model, table = fitted
    rows = pd.concat([table[20:]] * 3, ignore_index=True)
    rows.loc[: CELLS + 20, "loss"] = np.nan
    words = report(tmp_path, model, rows).words
    assert f"The first {CELLS} of {CELLS + 21} cells" in words


def test_names_are_text(tmp_path):
    names = [*HOSTILE[:3], "loss"]
    table = pump(names)
    page = report(tmp_path, VanishingRepair().fit(table), table, data_name=HOSTILE[0])
    check_page(page)
