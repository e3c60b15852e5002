"""The page in a browser: from a table to a question, an answer and its files."""

import pytest

ANSWERED = "#answer:not([hidden])"
FAILED = "#problem:not([hidden])"


@pytest.fixture
def page(browser, server):
    """Return a new page of the app; at the end it has complained of nothing."""
    page = browser.new_page(width=1280, height=900, calm=True)
    page.goto(server.address)
    yield page
    assert page.complaints == []
    assert all(url.startswith((server.root, "data:")) for url in page.asked_for)
    page.context.close()


def asked(page, what=ANSWERED):
    """Press the button and wait for an answer, or for what went wrong."""
    page.click("#asking button.main")
    page.wait_for_selector(f"{ANSWERED}, {FAILED}")
    assert page.is_visible(what), page.inner_text("main")


def take_example(page, name):
    page.click(f"[data-example={name}]")
    page.wait_for_selector("#question:not([hidden])")


def downloaded(page, name, folder):
    with page.expect_download() as download:
        page.click(f"[data-file='{name}']")
    path = folder / name
    download.value.save_as(path)
    return path


def test_the_address_hides_its_token(page, server):
    assert page.url == f"{server.root}/"
    assert page.evaluate("document.cookie") == ""


def test_from_an_example_to_its_law_and_report(page, tmp_path):
    take_example(page, "gas")
    assert "400 rows, 4 columns" in page.inner_text("#description")
    asked(page)
    assert "8.31" in page.inner_text("#answer")
    assert "8.31" in downloaded(page, "report.html", tmp_path).read_text()
