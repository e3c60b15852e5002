"""Rules of a table: which are made, what they say, and what they refuse."""

import json
import sqlite3

import numpy as np
import pytest

import vanishing
from vanishing import LawFinder, Rules, VanishingOutlierDetector, check_law, rules_of
from vanishing.rules.kinds import CodesRule, IntegerRule, LawRule, OrderRule, RangeRule, SignRule

pd = pytest.importorskip("pandas")


def invoices(n_rows, seed):
    """Return a table with one rule of each kind, and columns that keep none."""
    random = np.random.default_rng(seed)
    pieces = random.integers(1, 60, n_rows).astype(float)
    price = random.uniform(2, 40, n_rows).round(2)
    start = random.uniform(0, 1000, n_rows)
    columns = {
        "pieces": pieces,
        "price": price,
        "net": (pieces * price).round(2),
        "ordered": start,
        "paid": start + random.exponential(30, n_rows),
        "stock": random.exponential(50, n_rows),
        "state": random.choice([1, 2, 7], n_rows, p=[0.5, 0.4, 0.1]),
        "currency": random.choice(["EUR", "USD"], n_rows),
        "level": random.normal(20, 3, n_rows),
        "offset": random.normal(size=n_rows),
    }
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def rules():
    return rules_of("net = pieces*price", invoices(1500, 0))


def words(rules, kind):
    return [str(rule) for rule in rules if rule.kind == kind]


def test_each_kind_of_rule_is_found_and_none_is_false(rules):
    assert words(rules, "law") == [str(rules[0])]
    assert str(rules[0]).startswith("net = pieces*price, up to ")
    assert words(rules, "integer") == ["pieces is a whole number"]
    assert {"stock is never negative", "ordered is never negative"} <= set(words(rules, "sign"))
    assert words(rules, "codes") == ["state is one of 1, 2, 7", "currency is one of EUR, USD"]
    assert "ordered is never above paid" in words(rules, "order")
    assert {rule.columns[0] for rule in rules if rule.kind == "range"} >= {"level", "offset"}
    fresh = invoices(50_000, 1)
    assert rules.holds(fresh).all(axis=1).mean() > 0.999


def test_words_are_one_line_per_rule(rules):
    assert str(rules).splitlines() == [str(rule) for rule in rules]
    assert len(rules) == len(list(rules)) and rules[0] in rules
    assert str(rules[:0]) == "No rule has support."


def test_rows_that_break_a_law_are_named(rules):
    table = invoices(300, 2)
    table.loc[7, "net"] += 0.1 * table["net"].std()
    table.loc[9, "currency"] = "XYZ"
    table.loc[11, "pieces"] = 1.5
    broken = rules.check(table)
    assert [v.row for v in broken if v.rule.kind in ("law", "codes", "integer")] == [7, 9, 11, 11]
    assert "currency is 'XYZ'" in str(next(v for v in broken if v.row == 9))
    assert rules.check(invoices(300, 2)) == []


def test_a_missing_cell_breaks_no_rule(rules):
    table = invoices(20, 3)
    empty = pd.DataFrame({name: [None] * 20 for name in table.columns})
    assert rules.check(empty) == []
    for name in table.columns:
        assert rules.check(table.assign(**{name: empty[name]})) == []


def test_cells_off_by_a_tenth_of_the_spread_are_refused_where_a_law_covers_them(rules):
    table = invoices(2000, 4)
    random = np.random.default_rng(0)
    for name in ("pieces", "price", "net"):
        off = table.copy()
        off[name] = off[name] + 0.1 * off[name].std() * random.choice([-1, 1], len(off))
        assert (~rules.holds(off)[:, 0]).mean() >= 0.99, name


def test_wrong_rows_of_the_table_do_not_widen_the_rules():
    table = invoices(1500, 0)
    table.loc[::40, "net"] *= 3.0
    found = rules_of("net = pieces*price", table)
    clean = rules_of("net = pieces*price", invoices(1500, 0))
    assert found[0].tolerance < 2 * clean[0].tolerance
    assert len({v.row for v in found.check(table) if v.rule.kind == "law"}) == 38


def test_noise_in_proportion_to_the_column_has_a_relative_tolerance():
    random = np.random.default_rng(0)
    u, i = 10 ** random.uniform(0, 2, (2, 1000))
    X = np.column_stack([u, i, u * i * (1 + 0.01 * random.normal(size=1000))])
    (law, *_) = rules_of("x2 = x0*x1", X)
    assert 0.03 < law.relative < 0.08 and "% of x2" in str(law)
    small = [[1.0, 1.0, 1.2], [100.0, 100.0, 10_200.0]]
    holds = Rules([law], ["x0", "x1", "x2"]).holds(small)
    assert holds.tolist() == [[False], [True]]


def test_laws_come_from_models_and_results():
    random = np.random.default_rng(0)
    q, w = random.uniform(1, 3, (2, 800))
    X = np.column_stack([q, w, q * w]) * (1 + 0.001 * random.normal(size=(800, 3)))
    detector = VanishingOutlierDetector().fit(X)
    law = check_law("x2 = x0*x1", X)
    finder = LawFinder(functions=()).fit(X[:, :2], X[:, 2])
    for given in (detector, law, [law], iter([law]), "x2 = x0*x1"):
        kinds = [rule.kind for rule in rules_of(given, X)]
        assert kinds.count("law") == 1, given
    alone = rules_of(law)
    assert [rule.kind for rule in alone] == ["law"] and alone[0].tolerance > 2 * law.error
    table = pd.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "y": X[:, 2]})
    assert str(rules_of(finder, table)[0]).startswith("y = ")
    assert len(rules_of(detector)) == 1


def test_a_product_is_found_among_many_columns():
    random = np.random.default_rng(0)
    X = pd.DataFrame({f"s{i}": random.normal(5, 1, 600) for i in range(36)})
    X["U"], X["I"] = random.uniform(200, 240, 600), random.uniform(1, 16, 600)
    X["P"] = X["U"] * X["I"] * (1 + 0.001 * random.normal(size=600))
    X["twice"] = 2.0 * X["P"]
    laws = words(rules_of(VanishingOutlierDetector().fit(X), X), "law")
    assert len(laws) == 2
    assert sum("U*I" in law for law in laws) == 1


def test_accidents_make_no_rules():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "near zero": random.normal(3.2, 1, 400).clip(0.05),  # positive so far
            "few": random.choice([0.5, 1.25, 3.5], 400, p=[0.8, 0.19, 0.01]),  # one is rare
            "low": random.uniform(0, 1, 400),
            "high": random.uniform(5, 6, 400),  # above low in all rows: by their ranges
            "counts": random.poisson(2, 400),
        }
    )
    found = rules_of([], X)
    assert "[near zero] is never negative" not in words(found, "sign")
    assert words(found, "codes") == [] and words(found, "order") == []
    short = rules_of([], X[:8])
    assert len(short) == 0


def test_rules_do_not_depend_on_the_order_of_rows():
    table = invoices(600, 0)
    shuffled = table.sample(frac=1.0, random_state=0)
    assert rules_of("net = pieces*price", table) == rules_of("net = pieces*price", shuffled)


def test_the_rate_is_kept_for_other_distributions():
    def table(n_rows, seed):
        random = np.random.default_rng(seed)
        return np.column_stack(
            [
                random.standard_t(3, n_rows),
                random.lognormal(0, 1.5, n_rows),
                random.uniform(0, 1, n_rows),
                1e8 + random.normal(size=n_rows),
                random.gamma(0.5, 1, n_rows),
                random.pareto(2, n_rows),
                -random.exponential(1, n_rows),
                random.poisson(100, n_rows),
            ]
        )

    refused = [
        1.0 - rules_of([], table(500, seed)).holds(table(20_000, 99)).all(axis=1).mean()
        for seed in range(8)
    ]
    assert np.mean(refused) < 0.001 and max(refused) < 0.004


# -- Files ----------------------------------------------------------------------------------------


def test_saved_rules_are_the_same(rules, tmp_path):
    rules.save(tmp_path / "rules.json")
    loaded = vanishing.load(tmp_path / "rules.json")
    assert loaded == rules and str(loaded) == str(rules) and hash(loaded) == hash(rules)
    table = invoices(200, 5)
    np.testing.assert_array_equal(loaded.holds(table), rules.holds(table))


def test_the_name_of_a_file_says_its_format(rules, tmp_path):
    for ending, start in {
        "sql": 'CREATE TABLE "rules"',
        "py": '"""Rules of a table',
        "gx.json": "{",
        "txt": "net = pieces*price",
    }.items():
        rules.save(tmp_path / f"rules.{ending}")
        assert (tmp_path / f"rules.{ending}").read_text().startswith(start)
    with pytest.raises(ValueError, match=r"ends with .*'rules\.xyz'"):
        rules.save(tmp_path / "rules.xyz")
    before = (tmp_path / "rules.sql").read_text()
    broken = Rules([RangeRule(("a\0",), 0.0, 1.0)], ["a\0"])
    with pytest.raises(ValueError, match="zero byte"):
        broken.save(tmp_path / "rules.sql")
    assert (tmp_path / "rules.sql").read_text() == before
    assert not list(tmp_path.glob(".*tmp"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rule: rule.update(rule="shell"), "unknown"),
        (lambda rule: rule.update(columns=["other"]), "unknown column"),
        (lambda rule: rule.update(columns=[]), "unknown column"),
        (lambda rule: rule.update(tolerance="1e999"), "not numbers"),
        (lambda rule: rule.update(tolerance=-1.0), "negative"),
        (lambda rule: rule.update(left=["column", 99]), "column"),
        (lambda rule: rule.update(left=["function", "eval", ["column", 0]]), "eval"),
        (lambda rule: rule.update(code="x"), "unknown"),
    ],
)
def test_altered_files_are_refused(rules, change, problem):
    from vanishing.persistence import ModelReader, Writer
    from vanishing.persistence.values import Refused

    node = json.loads(json.dumps(Writer().model(rules)))
    change(node["fitted"]["rules"][0])
    with pytest.raises((Refused, ValueError), match=problem):
        ModelReader(2**20).model(node)


# -- Errors ---------------------------------------------------------------------------------------


def test_errors_say_what_to_do(rules):
    table = invoices(100, 0)
    with pytest.raises(ValueError, match="give X"):
        rules_of("net = pieces*price")
    with pytest.raises(ValueError, match="is no rule of this table, it does not hold"):
        rules_of("stock = pieces*price", table)
    with pytest.raises(TypeError, match="OAVI has none"):
        rules_of(vanishing.OAVI(), table)
    with pytest.raises(TypeError, match="a law is a Law"):
        rules_of([3.0], table)
    with pytest.raises(TypeError, match="got int"):
        rules_of(3, table)
    with pytest.raises(ValueError, match="false_alarm_rate"):
        rules_of([], table, false_alarm_rate=0.0)
    with pytest.raises(ValueError, match="no column 'net'"):
        rules.check(table.drop(columns="net"))
    with pytest.raises(ValueError, match="one of numbers, but has cells such as 'many'"):
        rules.check(table.astype({"stock": object}).assign(stock="many"))
    with pytest.raises(ValueError, match="10 are needed"):
        rules.check(np.ones((3, 2)))
    with pytest.raises(ValueError, match="infinite"):
        rules_of([], table.assign(level=np.inf))
    with pytest.raises(ValueError, match="no rows"):
        rules_of([], table[:0])
    law = check_law("x1 = 2*x0", [[i, 2 * i] for i in range(40)])
    with pytest.raises(ValueError, match="X has no column 'x0'"):
        rules_of(law, table)
    with pytest.raises(ValueError, match="no column"):
        Rules([IntegerRule(("z",))], ["a"])


# -- SQL ------------------------------------------------------------------------------------------


def inserted(connection, table, rows) -> list[bool]:
    """Return which rows a table takes."""
    taken = []
    marks = ",".join("?" * rows.shape[1])
    for row in rows.astype(object).where(rows.notna(), None).to_numpy().tolist():
        try:
            connection.execute(f'INSERT INTO "{table}" VALUES ({marks})', row)
            taken.append(True)
        except sqlite3.IntegrityError:
            taken.append(False)
    return taken


def test_sqlite_takes_the_rows_that_keep_the_rules(rules):
    table = invoices(400, 6)
    random = np.random.default_rng(1)
    for name in ("net", "price", "stock", "paid", "level"):
        wrong = random.choice(400, 30)
        table.loc[wrong, name] = table.loc[wrong, name] * 4 - 60
    table.loc[3, "net"] = np.nan
    table.loc[5, "currency"] = "GBP"
    statement = rules.to_sql("orders")
    assert statement.count(";") == 1 and len(statement) < 3000
    connection = sqlite3.connect(":memory:")
    connection.execute(statement)
    holds = rules.holds(table)
    assert inserted(connection, "orders", table) == holds.all(axis=1).tolist()
    assert 10 < (~holds.all(axis=1)).sum() < 200


def test_the_query_lists_what_is_broken(rules):
    table = invoices(300, 7)
    table.loc[7, "net"] += 50.0
    table.loc[9, "state"] = 5
    table.loc[11, "paid"] = -400.0
    connection = sqlite3.connect(":memory:")
    table.to_sql("orders", connection, index=False)
    rows = connection.execute(rules.violations_sql("orders")).fetchall()
    expected = [(str(v.rule), float(table.loc[v.row, "level"])) for v in rules.check(table)]
    place = 1 + list(table.columns).index("level")
    assert sorted((row[0], row[place]) for row in rows) == sorted(expected)
    empty = Rules([], ["level"])
    assert connection.execute(empty.violations_sql("orders")).fetchall() == []


def test_duckdb_takes_the_same_rows(rules):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    connection = duckdb.connect()
    connection.execute(rules.to_sql("orders"))
    table = invoices(60, 8)
    table.loc[3, "net"] += 100.0
    table.loc[5, "state"] = 4
    taken = []
    for row in table.to_numpy().tolist():
        try:
            connection.execute(f"INSERT INTO orders VALUES ({','.join('?' * 10)})", row)
            taken.append(True)
        except duckdb.ConstraintException:
            taken.append(False)
    assert taken == rules.holds(table).all(axis=1).tolist()


HOSTILE = [
    'a"); DROP TABLE t; --',
    "it's",
    "select",
    "näme ∑",
    "new\nline",
    "\\",
    "{batch}",
    "a,b",
    "]",
    "%s ?",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_and_values_stay_names_and_values(name, tmp_path):
    other = name + " too"
    rules = Rules(
        [
            LawRule(
                (name, other),
                *check_law_sides(),
                0.5,
            ),
            RangeRule((name,), 0.0, 10.0),
            OrderRule((name, other)),
            CodesRule(("code",), (name, other)),
        ],
        [name, other, "code"],
        ["code"],
    )
    good, bad = [2.0, 4.0, name], [2.0, 9.0, name]
    connection = sqlite3.connect(":memory:")
    connection.execute(rules.to_sql(name))
    quoted = name.replace('"', '""')
    insert = f'INSERT INTO "{quoted}" VALUES (?, ?, ?)'
    connection.execute(insert, good)
    for row in (bad, [2.0, 4.0, "x"], [20.0, 40.0, name]):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(insert, row)
    assert connection.execute(rules.violations_sql(name)).fetchall() == []
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    rules.save(tmp_path / "rules.json")
    assert vanishing.load(tmp_path / "rules.json") == rules
    suite = json.loads(rules.to_great_expectations())
    assert suite["expectations"][0]["kwargs"]["column"] == name
    compile(rules.to_pandera(), "schema", "exec")


def check_law_sides():
    from vanishing.algebra.expressions import Column, Number, Product

    return Column(1), Product((Number(2.0), Column(0)))


def test_names_that_databases_cannot_tell_apart_are_refused():
    with pytest.raises(ValueError, match="'Net' and 'net' for the same"):
        Rules([], ["Net", "net"]).to_sql("t")
    with pytest.raises(ValueError, match="first 63 bytes"):
        Rules([], ["x" * 70, "x" * 71]).to_sql("t")
    with pytest.raises(ValueError, match="has no name"):
        Rules([], [""]).to_sql("t")
    with pytest.raises(ValueError, match="name of a table"):
        Rules([], ["a"]).to_sql("")
    names = Rules([IntegerRule(("a b",)), IntegerRule(("a-b",))], ["a b", "a-b"]).to_sql("t")
    assert "CONSTRAINT integer_a_b CHECK" in names and "CONSTRAINT integer_a_b_2 CHECK" in names


def test_integers_are_not_divided_without_a_rest():
    random = np.random.default_rng(0)
    a, b = random.integers(1, 9, (2, 200))
    rules = rules_of("c = a/b", pd.DataFrame({"a": a, "b": b, "c": a / b}))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a INTEGER, b INTEGER, c REAL)")
    connection.execute("INSERT INTO t VALUES (1, 2, 0.5)")
    assert connection.execute(rules.violations_sql("t")).fetchall() == []
    connection.execute(rules.to_sql("checked"))
    connection.execute("INSERT INTO checked VALUES (1, 2, 0.5)")
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO checked VALUES (1, 2, 0)")


# -- Packages that check tables -------------------------------------------------------------------


def test_pandera_refuses_the_same_rows(rules):
    pytest.importorskip("pandera", reason="pandera is not installed")
    import pandera.errors

    module = {}
    exec(rules.to_pandera(), module)
    table = invoices(200, 9)
    module["schema"].validate(table)
    table.loc[3, "net"] += 100.0
    table.loc[5, "currency"] = "GBP"
    table.loc[8, "paid"] = -50.0
    with pytest.raises(pandera.errors.SchemaErrors) as broken:
        module["schema"].validate(table, lazy=True)
    cases = broken.value.failure_cases
    said = {(rule, int(row)) for rule, row in zip(cases["check"], cases["index"], strict=True)}
    assert said == {(str(v.rule), v.row) for v in rules.check(table)}


def test_great_expectations_reads_the_suite(rules):
    gx = pytest.importorskip("great_expectations", reason="Great Expectations is not installed")
    suite = gx.ExpectationSuite(**json.loads(rules.to_great_expectations()))
    assert len(suite.expectations) == len(rules.columns) + len(rules)


def test_sign_rules_of_both_signs():
    random = np.random.default_rng(0)
    losses = -random.exponential(1, 500)
    (sign, *_) = rules_of([], pd.DataFrame({"loss": losses}))
    assert isinstance(sign, SignRule) and str(sign) == "loss is never positive"
    assert [v.row for v in Rules([sign], ["loss"]).check([[-1.0], [0.1], [0.0]])] == [1]
