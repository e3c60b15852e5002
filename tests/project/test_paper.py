"""The paper: its authors, its references, and that it builds without warnings."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "paper" / "paper.md"

pytestmark = pytest.mark.skipif(not PAPER.exists(), reason="there is no paper here")


@pytest.fixture(scope="module")
def paper():
    """Return what stands above the text, and the text."""
    _, head, text = PAPER.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), text


def pandoc():
    if found := shutil.which("pandoc"):
        return found
    pypandoc = pytest.importorskip("pypandoc")
    try:
        return pypandoc.get_pandoc_path()
    except OSError:
        pytest.skip("there is no pandoc")


def test_authors_and_title_are_those_of_the_citation(paper):
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    head, _ = paper
    names = [
        author.get("name") or f"{author['given-names']} {author['family-names']}"
        for author in citation["authors"]
    ]
    assert [author["name"] for author in head["authors"]] == names
    assert head["title"] == citation["title"]
    known = {place["index"] for place in head["affiliations"]}
    assert {author["affiliation"] for author in head["authors"]} <= known


def test_it_has_the_sections_of_such_papers(paper):
    sections = re.findall(r"^# (.+)$", paper[1], re.MULTILINE)
    for section in ("Summary", "Statement of need", "State of the field", "References"):
        assert section in sections


def test_every_citation_has_its_reference_and_every_reference_is_cited(paper):
    entries = (PAPER.parent / paper[0]["bibliography"]).read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{(\w+),", entries, re.MULTILINE)
    cited = re.findall(r"@(\w+)", paper[1])
    assert len(keys) == len(set(keys))
    assert set(cited) == set(keys)


def test_pictures_are_there(paper):
    pictures = re.findall(r"!\[.+\]\((.+?)\)", paper[1])
    assert pictures
    for picture in pictures:
        assert (PAPER.parent / picture).exists()


def test_it_builds_without_warnings(tmp_path):
    page = tmp_path / "paper.html"
    command = [pandoc(), "--citeproc", "--standalone", "--fail-if-warnings"]
    built = subprocess.run(
        [*command, "-o", page, PAPER.name], cwd=PAPER.parent, capture_output=True, text=True
    )
    assert built.returncode == 0 and built.stderr == "", built.stderr
    html = page.read_text(encoding="utf-8")
    assert 'class="math' in html and html.count('class="csl-entry"') >= 15
    assert "???" not in html


def test_it_builds_with_sphinx_without_warnings(tmp_path):
    """Where there is no pandoc: citations stay as they are written, all else is checked."""
    pytest.importorskip("myst_parser")
    build = pytest.importorskip("sphinx.cmd.build")
    (tmp_path / "conf.py").write_text(
        'extensions = ["myst_parser"]\nroot_doc = "paper"\n'
        'myst_enable_extensions = ["attrs_inline", "dollarmath"]\n'
    )
    folder = tmp_path / "html"
    options = ["-W", "-q", "-b", "html", "-c", tmp_path, "-d", tmp_path / "doctrees"]
    assert build.main([*map(str, options), str(PAPER.parent), str(folder)]) == 0
    html = (folder / "paper.html").read_text(encoding="utf-8")
    assert "Statement of need" in html and 'class="math' in html and "<img" in html
