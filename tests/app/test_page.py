"""The page in a browser: from a table to a question, an answer and its files."""

import csv
import os
import re
import signal
import time
from pathlib import Path

import messy
import numpy as np
import pandas as pd
import pytest
from pages import HOSTILE

from vanishing.datasets import make_motion

pytestmark = pytest.mark.slow  # a browser, a server, and answers

ANSWERED = "#answer:not([hidden])"
FAILED = "#problem:not([hidden])"
READ = "#question:not([hidden])"


def opened(browser, server, **options):
    page = browser.new_page(**{"width": 1280, "height": 900, "calm": True, **options})
    page.goto(server.address)
    return page


@pytest.fixture
def page(browser, server):
    """Return a new page of the app; at the end it has complained of nothing."""
    page = opened(browser, server)
    yield page
    assert page.complaints == []
    assert all(url.startswith((server.root, "data:")) for url in page.asked_for)
    page.context.close()


def ask(page, question=None):
    if question is not None:
        page.check(f"input[name=question][value={question}]")
    page.click("#asking button.main")


def asked(page, question=None, **options):
    """Choose a question and options, press the button and wait for an answer."""
    if question is not None:
        page.check(f"input[name=question][value={question}]")
    for name, value in options.items():
        page.select_option(f"#asking select[name={name}]", value)
    ask(page)
    page.wait_for_selector(f"{ANSWERED}, {FAILED}")
    assert page.is_visible(ANSWERED), page.inner_text("main")
    return page.inner_text("#answer")


def equation(page):
    """Return the first equation of the answer as text."""
    return page.locator("#answer .equations .scroll").first.get_attribute("aria-label")


def take_example(page, name):
    page.click(f"[data-example={name}]")
    page.wait_for_selector(READ)


def drop(page, path):
    """Drop a file on the page, as a mouse does."""
    data = page.evaluate_handle(
        "([text, name]) => { const data = new DataTransfer();"
        "data.items.add(new File([text], name)); return data; }",
        [Path(path).read_text(), Path(path).name],
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": data})
    page.wait_for_selector(READ)


def choose(page, path, wait=READ):
    page.set_input_files("#file", path)
    page.wait_for_selector(wait)


def downloaded(page, name, folder):
    with page.expect_download() as download:
        page.click(f"[data-file='{name}']")
    path = folder / name
    download.value.save_as(path)
    return path


# -- Questions ------------------------------------------------------------------------------------


def test_the_address_hides_its_token(page, server):
    assert page.url == f"{server.root}/"
    assert page.evaluate("document.cookie") == ""


def test_who_is_quick_has_one_session(browser, server):
    page = browser.new_page(width=1280, calm=True)
    page.add_init_script(
        "const real = fetch; window.fetch = async (address, options) => {"
        "if (address === '/sessions') await new Promise(done => setTimeout(done, 1000));"
        "return real(address, options); }"
    )
    page.goto(server.address)
    take_example(page, "gas")  # while the page asks for its questions
    assert page.asked_for.count(f"{server.root}/sessions") == 1
    page.context.close()


@pytest.mark.parametrize(
    ("name", "question", "said", "file"),
    [
        ("gas", "laws", "8.31", "report.html"),
        ("pump", "repair", "3 gaps filled", "report.html"),
        ("wines", "classes", "Held-out error", "report.html"),
        ("pendulum", "conserved", "is conserved", "report.html"),
        ("plant", "outliers", "outliers", "report.html"),
    ],
)
def test_from_an_example_to_its_answer_and_file(page, tmp_path, name, question, said, file):
    take_example(page, name)
    assert page.is_checked(f"input[value={question}]")
    assert said in asked(page)
    path = downloaded(page, file, tmp_path)
    assert path.stat().st_size > 1000
    assert f"{name}.csv" in page.inner_text("#answer .heading")
    page.click(".same summary")
    assert f"{name}.csv" in page.inner_text(".same pre >> nth=0")
    assert "vanishing-app-" not in page.inner_text(".same")
    if file == "report.html":
        page.click(".report summary")
        page.wait_for_selector("iframe")
        frame = page.frame_locator("iframe")
        frame.locator("h1").wait_for()
        assert f"{name}.csv" in frame.locator("body").inner_text()


def test_a_repaired_table_and_another_one(page, tmp_path, examples):
    drop(page, examples["pump"])
    asked(page, "repair")
    repaired = list(csv.reader(downloaded(page, "repaired.csv", tmp_path).open()))
    assert len(repaired) == 401 and all(cell for row in repaired for cell in row)
    page.set_input_files(".apply input", examples["pump"])
    page.wait_for_selector("text=What the model says about pump.csv")
    filled = list(csv.reader(downloaded(page, "predictions.csv", tmp_path).open()))
    assert len(filled) == 401 and all(cell for row in filled for cell in row)


def test_columns_that_questions_are_about_are_chosen_ahead(page, tmp_path, examples):
    choose(page, examples["pendulum"])
    page.check("input[name=question][value=motion]")
    values = [page.input_value(f"#asking select[name={name}]") for name in ("run", "time")]
    assert values == ["run", "t"]
    choose(page, examples["wines"])
    page.check("input[name=question][value=classes]")
    assert page.input_value("#asking select[name=target]") == "grower"


def test_a_column_that_is_needed_is_asked_for_in_its_place(page, examples):
    choose(page, examples["gas"])
    ask(page, "classes")
    field = "#asking select[name=target]"
    assert page.evaluate("s => document.querySelector(s).validity.valueMissing", field)
    assert page.evaluate("s => document.activeElement.matches(s)", field)
    assert not page.is_visible(ANSWERED) and not page.is_visible("#working")


def test_how_it_moves(page, tmp_path):
    X, t, groups = make_motion("decay", 4, 30, noise=0.001, random_state=0)
    path = tmp_path / "runs.csv"
    rows = np.column_stack([groups + 1, t, X])
    np.savetxt(path, rows, fmt="%.6g", delimiter=",", header="run,t,x", comments="")
    choose(page, path)
    asked(page, "motion", run="run", time="t")
    assert re.fullmatch(r"dx/dt = -[0-9.()]+\*x", equation(page)), equation(page)


MESSY = [
    "semicolons and decimal commas",
    "Latin-1",
    "UTF-16",
    "missing cells, spelled in eight ways",
    "a column of text",
    "dates as 01.03.2024",
    "no line of names",
    "lines that are too short and too long",
    "an identifier",
    "titles above the names",
]


@pytest.mark.parametrize("name", MESSY)
def test_remedies_of_messy_files_are_buttons(page, tmp_path, name):
    choose(page, messy.write(name, tmp_path), "#columns:not([hidden])")
    for _ in range(6):
        if not page.locator("#description .problems").count():
            break
        problem = page.locator("#description .problems > li").first
        page.evaluate("document.querySelector('#description > *').className = 'old'")
        wanted = ("Leave such rows out", "Leave all columns of text out")
        buttons = [problem.get_by_role("button", name=label) for label in wanted]
        fitting = [button for button in buttons if button.count()]
        (fitting or [problem.get_by_role("button").first])[0].click()
        page.wait_for_selector("#columns:not([hidden]) #description > :first-child:not(.old)")
    assert page.locator("#description .problems").count() == 0
    names = page.locator("#asking select[name=target] option").evaluate_all(
        "o => o.map(e => e.value)"
    )
    target = "c" if "c" in names else "x2"
    asked(page, "laws", target=target)
    assert re.fullmatch(rf"{target} = [0-9.()*^-]+\*\S+\*\S+", equation(page)), equation(page)
    assert downloaded(page, "report.html", tmp_path).stat().st_size > 10_000


def test_an_error_of_a_question_has_remedies_that_ask_again(page):
    take_example(page, "pump")
    page.check("input[value=laws]")
    page.select_option("#asking select[name=target]", "power")
    ask(page)
    page.wait_for_selector(FAILED)
    page.click("#problem button:has-text('Leave such rows out')")
    page.wait_for_selector(ANSWERED)
    assert "397 rows" in page.inner_text("#answer .heading")


def test_sheets_are_buttons(page, tmp_path):
    path = tmp_path / "two.xlsx"
    with pd.ExcelWriter(path) as book:
        for name, rows in (("Notes", 1), ("Data", 9)):
            table = pd.DataFrame({"x": np.arange(rows), "y": np.arange(rows) ** 2})
            table.to_excel(book, sheet_name=name, index=False)
    choose(page, path, "#columns:not([hidden])")
    assert "--sheet" not in page.inner_text("#description")
    page.click("#description button:has-text('Sheet: Data')")
    page.wait_for_selector("text=two.xlsx: 9 rows, 2 columns")


def test_dropped_and_pasted_tables(page, examples):
    drop(page, examples["gas"])
    assert "gas.csv: 400 rows, 4 columns" in page.inner_text("#description")
    page.click("#paste summary")
    rows = "\n".join(f"{x}\t{3 * x}" for x in range(1, 30))
    page.fill("#cells", f"x\ty\n{rows}")
    page.click("#use-cells")
    page.wait_for_selector("text=pasted.csv: 29 rows, 2 columns")
    asked(page, "laws", target="y")
    assert equation(page) == "y = 3*x"


def test_what_is_no_table_is_a_message(page, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(bytes(range(256)) * 10)
    choose(page, path, "#columns:not([hidden])")
    assert page.locator("#description .problems li").count() >= 1
    assert not page.is_visible("#question")
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    choose(page, empty, FAILED)
    assert "The file is empty." in page.inner_text("#problem")
    page.complaints.clear()  # the browser notes the status of the refusal


@pytest.fixture(scope="module")
def front_table(tmp_path_factory):
    """Return a table for which several equations are compared."""
    random = np.random.default_rng(0)
    x, z = random.uniform(1, 3, (2, 300))
    y = 2 * x * z + 0.5 * x**2 + 0.1 * z + 0.01 * random.normal(size=300)
    path = tmp_path_factory.mktemp("front") / "front.csv"
    np.savetxt(path, np.column_stack([x, z, y]), delimiter=",", header="x [m],z,y", comments="")
    return path


def test_another_equation_of_the_front_redraws(page, server, front_table):
    choose(page, front_table)
    asked(page, "laws", target="y")
    places = page.locator(".front input")
    assert places.count() > 1
    chosen = places.evaluate_all("boxes => boxes.findIndex(box => box.checked)")
    other = 0 if chosen else 1
    heading = page.inner_text("#answer .equations")
    picture = page.locator(".picture").first.inner_html()
    places.nth(other).check()
    page.wait_for_function(
        "h => document.querySelector('#answer .equations').innerText !== h", arg=heading
    )
    assert page.locator(".front input").nth(other).is_checked()
    assert page.locator(".picture").first.inner_html() != picture
    assert page.locator(".front input").count() == places.count()
    # By keys, faster than it is drawn: who is impatient loses nothing.
    before = server.workers
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    page.wait_for_selector("html:not(.busy)")
    assert page.evaluate("document.activeElement.matches('.front :checked')")
    assert server.workers == before and not page.is_visible(FAILED)


def test_an_equation_of_mine_is_read_while_it_is_typed(page):
    take_example(page, "gas")
    field = page.locator("input[name=check]")
    field.fill("p*V = R*n*(T")
    page.wait_for_selector(".read .wrong")
    assert "bracket is not closed" in page.inner_text(".read")
    assert page.inner_text(".marks mark") == "("
    assert field.get_attribute("aria-invalid") == "true"
    before = page.locator(".marks").evaluate("m => m.firstChild.textContent")
    assert before == "p*V = R*n*"
    inside = page.evaluate(
        "() => { const input = document.querySelector('.formula'), style = getComputedStyle(input);"
        "const pen = document.createElement('canvas').getContext('2d'); pen.font = style.font;"
        "return input.getBoundingClientRect().left + parseFloat(style.borderLeftWidth)"
        "+ parseFloat(style.paddingLeft) + pen.measureText('p*V = R*n*').width; }"
    )
    assert page.locator(".marks mark").bounding_box()["x"] == pytest.approx(inside, abs=1)
    field.fill("p*V = R*n*")
    field.press("End")
    page.click(".names button:has-text('T')")
    page.wait_for_selector(".read math")
    assert field.input_value() == "p*V = R*n*T"
    assert "Constants to be fitted: R" in page.inner_text(".read")
    page.select_option("#asking select[name=target]", "")
    text = asked(page)
    assert "8.31" in text and "R" in text
    assert page.inner_text("#answer .verdict").startswith("holds: ")  # and no "found" before it


def test_another_table_is_predicted(page, tmp_path, examples):
    take_example(page, "gas")
    asked(page)
    page.set_input_files(".apply input", examples["gas"])
    page.wait_for_selector("text=What the model says about gas.csv")
    path = downloaded(page, "predictions.csv", tmp_path)
    with path.open() as file:
        rows = list(csv.reader(file))
    assert len(rows) == 401 and rows[0][-1] == "p"


def test_another_table_is_read_as_the_first_one_or_has_remedies(page, tmp_path):
    lines = [f"{x},5;{2 * x + 1}" for x in range(1, 30)]
    first, other = tmp_path / "first.csv", tmp_path / "other.csv"
    first.write_text("\n".join(["x;y", *lines]))
    other.write_text("\n".join(["Länge;x;y", *(f"1;{line}" for line in lines)]), "latin-1")
    choose(page, first, "#columns:not([hidden])")
    page.click("#description button:has-text('The comma')")
    page.wait_for_selector("#description .problems", state="detached")
    asked(page, "laws", target="y")
    page.set_input_files(".apply input", other)
    page.click("#problem button:has-text('latin-1')")
    page.wait_for_selector("text=What the model says about other.csv")
    assert "29 rows" in page.inner_text("#answer .verdict")


def test_files_are_taken_one_after_the_other(page, server):
    take_example(page, "gas")
    asked(page)
    before, names = server.workers, []
    page.on("download", lambda download: names.append(download.suggested_filename))
    place = page.evaluate("scrollY")
    with page.expect_download(lambda download: download.suggested_filename == "law.c"):
        page.dblclick("[data-file='report.html']")
        page.click("[data-file='law.c']")
    assert names == ["report.html", "law.c"] and server.workers == before
    assert page.evaluate("document.activeElement.matches(\"[data-file='law.c']\")")
    assert page.evaluate("scrollY") >= place


def test_pictures_are_looked_into(page):
    take_example(page, "gas")
    asked(page)
    picture = page.locator(".picture").nth(1)
    picture.scroll_into_view_if_needed()
    picture.focus()
    page.keyboard.press("ArrowRight")
    assert picture.get_attribute("data-row") == "1"
    assert "row 1:" in page.locator(".chosen").nth(1).inner_text()
    circle = picture.locator(".dots circle").nth(10)
    box = circle.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert picture.get_attribute("data-row") == "11"
    before = circle.get_attribute("cx")
    page.keyboard.press("+")
    assert circle.get_attribute("cx") != before
    page.keyboard.press("0")
    assert circle.get_attribute("cx") == before
    page.mouse.wheel(0, -300)
    moved = "cx => document.querySelectorAll('.picture')[1].querySelectorAll('.dots circle')"
    page.wait_for_function(f"{moved}[10].getAttribute('cx') !== cx", arg=before)


# -- Sturdy ---------------------------------------------------------------------------------------


def begin_long_work(page, server):
    """Ask a process that does nothing any more; return its number."""
    take_example(page, "gas")
    (worker,) = server.workers
    os.kill(worker, signal.SIGSTOP)
    ask(page, "laws")
    page.wait_for_selector("#working:not([hidden])")
    return worker


def test_cancel(page, server):
    before = begin_long_work(page, server)
    page.click("#cancel")
    page.wait_for_selector("#working", state="hidden")
    assert page.evaluate("document.activeElement.matches('#asking button.main')")
    assert "Cancelled" in page.inner_text("#status")
    assert not page.is_visible(FAILED) and not page.is_visible(ANSWERED)
    for _ in range(600):
        running = server.workers
        if running and before not in running:  # one that was killed takes a while to be gone
            break
        time.sleep(0.1)
    assert running and before not in running
    take_example(page, "gas")
    assert "8.31" in asked(page)


def test_a_killed_worker_leaves_the_page_alive(page, server):
    os.kill(begin_long_work(page, server), signal.SIGKILL)
    page.wait_for_selector(FAILED)
    assert "has ended before it was done" in page.inner_text("#problem")
    take_example(page, "gas")
    assert "8.31" in asked(page)
    # Its answers are gone with a process; the page says so.
    (pid,) = server.workers
    os.kill(pid, signal.SIGKILL)
    page.click("[data-file='report.html']")
    page.wait_for_selector(FAILED)
    page.click("[data-file='report.html']")
    page.wait_for_selector("#problem:has-text('ask again')")


def test_a_page_that_is_closed_ends_its_work(browser, server):
    page = opened(browser, server)
    before = begin_long_work(page, server)
    page.context.close()
    for _ in range(600):
        if before not in server.workers:
            return
        time.sleep(0.1)
    pytest.fail("its work goes on")


def test_two_tabs_do_not_mix(page, browser, server):
    other = browser.tab(page.context)
    other.goto(server.root)  # the cookie is enough
    take_example(page, "gas")
    take_example(other, "wines")
    assert "8.31" in asked(page)
    assert "Held-out error" in asked(other)
    assert "gas.csv" in page.inner_text("#answer .heading")
    assert "gas.csv" in page.inner_text("#description")
    page.click(".same summary")
    assert "wines" not in page.inner_text("#answer")


def test_ten_megabytes_of_hostile_cells(page, tmp_path):
    formulas = ['=HYPERLINK("http://x",1)', "+1+1", "@SUM(A1)", "-2+3", *HOSTILE[:5]]
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["=1+1", "<b>b</b>", "c", "</script><script>alert(1)</script>"])
        size, i = 0, 0
        long = "<script>alert(1)</script>" * 40
        while size < 10_000_000:
            a, b = 1 + i % 97, 1 + i % 89
            row = [formulas[i % len(formulas)] + str(i % 7), a, a * b, long if i % 2 else b]
            size += sum(len(str(cell)) for cell in row)
            writer.writerow(row)
            i += 1
    choose(page, path, "#columns:not([hidden])")
    assert page.locator("#description img, #description script, #description b").count() == 0
    assert "<b>b</b>" in page.inner_text("#description")
    page.click("#description details summary >> nth=0")
    assert "<script>alert(1)</script>" in page.inner_text("#description table")


def test_exports_are_no_formulas(page, tmp_path):
    path = tmp_path / "names.csv"
    random = np.random.default_rng(0)
    with path.open("w") as file:
        file.write("name,flow,head,power\n")
        for i, (flow, head) in enumerate(random.uniform(1, 3, (100, 2))):
            wrong = 1.5 if i == 50 else 1.0
            file.write(f"=cmd|{i},{flow},{-head},{-wrong * flow * head}\n")
    choose(page, path, "#columns:not([hidden])")
    page.click("#description button:has-text('names the rows')")
    page.wait_for_selector("#description .problems", state="detached")
    asked(page, "outliers")
    with downloaded(page, "scored.csv", tmp_path).open() as file:
        rows = list(csv.reader(file))[1:]
    assert all(row[0].startswith("'=cmd") for row in rows)
    assert float(rows[0][2]) < 10  # numbers stay numbers


def test_larger_tables_than_allowed_are_refused(page, server, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(2001)) + "\n" + ",".join(["1"] * 2001) + "\n")
    choose(page, path, FAILED)
    assert "2,001 columns; this page takes 2,000" in page.inner_text("#problem")


# -- For everyone ---------------------------------------------------------------------------------


def test_keyboard_alone(page, tmp_path):
    def tab_to(selector, most=80):
        for _ in range(most):
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            page.keyboard.press("Tab")
        pytest.fail(f"no way to {selector}")

    tab_to("[data-example=gas]")
    page.keyboard.press("Enter")
    page.wait_for_selector(READ)
    tab_to("input[name=question]")
    page.keyboard.press("ArrowDown")
    assert page.is_checked("input[value=outliers]")
    page.keyboard.press("ArrowUp")
    tab_to("#asking button.main")
    page.keyboard.press("Enter")
    page.wait_for_selector(ANSWERED)
    assert page.evaluate("document.activeElement.id") == "answer"  # who listens is led there
    tab_to(".picture")
    page.keyboard.press("ArrowRight")
    tab_to(".report summary")
    page.keyboard.press("Enter")
    page.wait_for_selector("iframe")
    with page.expect_download() as download:
        for _ in range(200):
            if page.evaluate("document.activeElement.matches(\"[data-file='laws.json']\")"):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "laws.json"


@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing_serious(browser, server, front_table, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened(browser, server, width=width)
    colours = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}  # nothing else differs

    def check(state):
        for scheme, options in colours.items():
            page.emulate_media(color_scheme=scheme)
            options = {"resultTypes": ["violations"], **options}
            serious = [
                (found["id"], found["nodes"][0]["html"])
                for found in axe.run(page, options=options).response["violations"]
                if found["impact"] in ("serious", "critical") or found["id"] == "landmark-unique"
            ]
            assert serious == [], (state, scheme, serious)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, (state, wide)

    check("empty")
    page.click("#paste summary")
    take_example(page, "pump")
    page.click("#reading summary")
    page.click("#asking details summary")
    check("read, with problems")
    asked(page)
    check("repaired")
    page.check("input[value=laws]")
    ask(page)
    page.wait_for_selector(FAILED)
    check("failed")
    take_example(page, "pendulum")
    asked(page, "motion")
    check("how it moves")
    take_example(page, "gas")
    page.fill("input[name=check]", "p = 2*(V")
    page.wait_for_selector(".read .wrong")
    check("an equation with a mistake")
    choose(page, front_table)
    asked(page, "laws", target="y")
    page.click(".same summary")
    page.click(".report summary")
    page.wait_for_selector("iframe")
    check("answered")
    page.set_input_files(".apply input", front_table)
    page.wait_for_selector("text=What the model says about")
    check("predicted")
    worker = begin_long_work(page, server)
    check("working")
    os.kill(worker, signal.SIGCONT)
    page.wait_for_selector(ANSWERED)
    page.context.close()


def test_everything_fits(page):
    take_example(page, "wines")
    asked(page)
    for width in (700, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_reduced_motion(browser, server):
    page = opened(browser, server, calm=True)
    assert page.evaluate("matchMedia('(prefers-reduced-motion: reduce)').matches")
    moving = "getComputedStyle(document.querySelector('button')).transitionDuration"
    assert page.evaluate(moving) in ("0s", "")
    page.context.close()
