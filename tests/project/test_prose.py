"""How the documentation reads: lengths of sentences, riddles, words for pictures, installation."""

import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci" / "prose.py"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="there is no documentation here")


@pytest.fixture(scope="module")
def prose():
    spec = importlib.util.spec_from_file_location("prose", SCRIPT)
    module = sys.modules["prose"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = """# A heading is not read

One short sentence. Another one, by E. Wirth, with `code here` and [a link](x.md#y)
that goes on in the next line! 0.5 is a number.

```python
print("Code is not read. Nor is this.")
```

| tables | are not |
| --- | --- |

- An item
- a second item: no sentence of the first

<!-- Nor are comments. -->
![Words for a picture](a.png)
"""


def test_sentences_are_what_is_read(prose):
    assert [(s.text, s.line) for s in prose.sentences(PAGE)] == [
        ("One short sentence.", 3),
        ("Another one, by E Wirth, with Code and a link that goes on in the next line!", 3),
        ("0.5 is a number.", 3),
        ("An item", 13),
        ("a second item: no sentence of the first", 14),
    ]
    measure = prose.Measure.of(prose.sentences(PAGE))
    assert (measure.n_sentences, measure.longest, measure.long) == (5, 17, 0.0)
    assert measure.words == pytest.approx((3 + 17 + 4 + 2 + 8) / 5)


@pytest.mark.parametrize(
    "riddle, plain",
    [
        ("An equation that is wrong is told so.", "A wrong equation is reported."),
        ("What is measured less what is predicted.", "Measured minus predicted."),
        ("A psi that is too large is warned of.", "You get a warning if psi is too large."),
        ("Print a line a degree.", "Print one line per degree."),
        ("SQL divides whole numbers without a rest.", "SQL truncates integer division."),
    ],
)
def test_riddles_are_seen(prose, riddle, plain):
    assert prose.riddles(prose.sentences(riddle)) and not prose.riddles(prose.sentences(plain))


def test_every_picture_has_words_for_those_who_do_not_see_it(prose):
    for name, text in prose.pages().items():
        for alt in re.findall(r"!\[([^\]]*)\]\([^)]*\)", text):
            assert len(alt.split()) >= 4, f"{name}: a picture is called {alt!r}"


def test_thumbnails_have_words():
    pytest.importorskip("sphinx_gallery"), pytest.importorskip("myst_parser")
    from docutils import nodes
    from docutils.utils import new_document

    conf = runpy.run_path(ROOT / "docs" / "conf.py")
    page = new_document("page")
    page += nodes.image(uri="/gallery/images/thumb/sphx_glr_plot_gas_law_thumb.png", alt="")
    page += nodes.image(uri="/gallery/images/sphx_glr_plot_gas_law_001.png", alt="gas law")
    conf["_words_for_thumbnails"](None, page)
    first, second = (image["alt"] for image in page.findall(nodes.image))
    title = (ROOT / "examples" / "plot_gas_law.py").read_text(encoding="utf-8").splitlines()[1]
    assert title in first and second == "gas law"


def test_each_page_starts_with_what_the_reader_can_do_after_it(prose):
    for name, text in prose.pages().items():
        if name == "docs/index.md":  # the front door of README.md
            continue
        start = " ".join(sentence.text for sentence in prose.sentences(text)[:6])
        assert re.search(r"\bAfter (?:this page|a tutorial)\b", start), name


def test_installation_can_be_typed_in_any_shell(prose):
    """Windows' cmd knows no single quotes; and there is nothing on a package index yet."""
    pages = prose.pages() | {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")
    }
    for name, text in pages.items():
        for command in re.findall(r"pip install [^\n`&]*", text):
            assert "'" not in command, f"{name}: {command}"
            assert not re.search(r"\bvanishing\b", command), f"{name}: {command}"


def test_docstrings_are_read_as_text(prose):
    text = prose.plain_docstring(
        "Find ``x : y``.\n\nParameters\n----------\nX : array\n    The rows.\n\n"
        "Examples\n--------\n>>> 1 + 1\n2\n\nThe end.\n\nReferences\n----------\nA book."
    )
    assert [s.text for s in prose.sentences(text)] == ["Find Code.", "The rows.", "The end."]


def test_the_reference_keeps_short_sentences(prose):
    measure = prose.Measure.of(prose.sentences(prose.reference()))
    assert measure.n_sentences > 1500 and measure.longest <= 60
    assert measure.long <= 0.02
    assert measure.n_riddles <= 0.01 * measure.n_sentences


def test_pages_keep_short_sentences(prose):
    """As many words as docs/style.md says: new pages are to be read aloud, too."""
    texts = prose.pages()
    for name, text in texts.items():
        longest = max(prose.sentences(text), key=lambda sentence: sentence.n_words)
        assert longest.n_words <= 50, f"{name}:{longest.line}: {longest.text}"
    measure = prose.Measure.of([s for text in texts.values() for s in prose.sentences(text)])
    assert measure.long <= 0.02
    assert measure.n_riddles <= 0.015 * measure.n_sentences
