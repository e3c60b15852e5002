"""The documentation's pages: reachable, with links that lead somewhere and code that runs."""

import contextlib
import importlib
import inspect
import io
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import vanishing
import vanishing.cli

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.glob("*.*") if page.suffix in (".md", ".rst"))
WRITTEN = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("*/README.md")]

# A fenced block of a language, and perhaps a comment before it that says not to run it.
_BLOCK = re.compile(
    r"^(?P<skip><!-- not run -->\n+)?```(?P<language>\w+)\n(?P<code>.*?)^```$", re.M | re.S
)
_TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.M | re.S)
_TOCTREE_RST = re.compile(r"^\.\. toctree::\n((?:[ ]+.*\n|\n)+)", re.M)
_LINK = re.compile(r"\]\(([^)\s]+)\)")

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="there is no documentation here")


def _name(path):
    return str(path.relative_to(ROOT))


def _entries(page):
    """Return the entries of a page's toctrees."""
    text = page.read_text(encoding="utf-8")
    for tree in (*_TOCTREE.findall(text), *_TOCTREE_RST.findall(text)):
        lines = (line.strip() for line in tree.splitlines())
        entries = (line for line in lines if line and not line.startswith(":"))
        yield from (re.sub(r".*<(.*)>", r"\1", entry) for entry in entries)  # Title <page>


def test_every_page_is_in_a_toctree():
    reached, to_read = set(), [DOCS / "index.md"]
    while to_read:
        page = to_read.pop()
        if page in reached:
            continue
        reached.add(page)
        for entry in _entries(page):
            to_read += [p for p in PAGES if p.match(f"{entry}{p.suffix}")]
    assert {_name(page) for page in PAGES} == {_name(page) for page in reached}


def _is_built(target):
    """Say whether a link leads to a page that the build makes of an example."""
    if target.parent != DOCS / "gallery":
        return False
    return target.stem == "index" or (ROOT / "examples" / f"{target.stem}.py").is_file()


def _anchors(page):
    """Return the anchors of a page's headings, as GitHub and Sphinx make them."""
    headings = re.findall(r"^#+ +(.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", WRITTEN, ids=_name)
def test_links_lead_somewhere(page):
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists() or _is_built(target), f"{_name(page)} links to {link}"
        if anchor:
            assert anchor in _anchors(target), f"{_name(page)} links to {link}"


@pytest.mark.parametrize("page", WRITTEN, ids=_name)
def test_no_line_is_lost(page):
    """A line of Markdown that begins with a percent sign is a comment."""
    if page.suffix == ".md":
        assert not re.search(r"^%", page.read_text(encoding="utf-8"), re.M)


def test_pictures_are_there_and_not_empty():
    for picture in (DOCS / "images").glob("*.png"):
        assert picture.stat().st_size > 1000, picture.name


def _blocks(page):
    """Return (language, code, output it should print or None) of what is run on a page."""
    found = []
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["language"] in ("python", "console") and not block["skip"]:
            found.append([block["language"], block["code"], None, block.end()])
        elif block["language"] == "text" and found:
            between = block.string[found[-1][-1] : block.start()]
            if not between.strip() and found[-1][0] == "python":
                found[-1][2] = block["code"]
    return [(language, code, output) for language, code, output, _ in found]


def _typed(session):
    """Return (command, output it should print) of what is typed after the prompt $."""
    for part in re.split(r"^\$ ", session, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def _run_command(command, monkeypatch):
    """Return what a command prints; those of this package run in this process.

    An error is part of what they print: a page may show it.
    """
    if not command.startswith("vanishing "):
        return subprocess.run(
            command, shell=True, check=True, capture_output=True, text=True
        ).stdout
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    monkeypatch.setenv("COLUMNS", "100")
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        pytest.raises(SystemExit) as left,
    ):
        vanishing.cli.main()
    assert left.value.code in (None, 0, 1, 2), command
    return printed.getvalue()


def _says(printed, said):
    """Say whether the same words were printed; "..." stands for any, and seconds may differ."""
    printed, said = (re.sub(r"\d+\.\d s in all", "so many s in all", t) for t in (printed, said))
    words = (".*" if word == "..." else re.escape(word) for word in said.split())
    return re.fullmatch(r"\s*".join(words), " ".join(printed.split())) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in (ROOT / "README.md", *PAGES) if _blocks(page)], ids=_name
)
def test_code_runs_and_prints_what_is_said(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    vanishing.OAVI().fit([[0.0, 0.1], [0.5, 0.4], [1.0, 0.8]]).save(
        "model.json"
    )  # pages may load it
    for example in (*DOCS.glob("*.csv"), *DOCS.glob("*.toml")):
        shutil.copy(example, tmp_path)
    names = {"__name__": "__main__"}
    for language, code, output in _blocks(page):
        if language == "console":
            for command, said in _typed(code):
                printed = _run_command(command, monkeypatch)
                assert _says(printed, said), f"{command} prints\n{printed}"
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            # What a page shows must not warn; other packages may.
            warnings.filterwarnings("error", category=UserWarning, module="__main__")
            exec(compile(code, "<docs>", "exec"), names)
        if output is not None:
            assert printed.getvalue().split() == output.split()


def _is_defined_in(module, name, value):
    return not name.startswith("_") and getattr(value, "__module__", None) == module.__name__


def test_the_reference_lists_all_public_names():
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text(), re.M))
    public = {name for name in vanishing.__all__ if not name.startswith("_")}
    modules = {name for name in public if inspect.ismodule(getattr(vanishing, name))}
    assert public - modules <= listed
    for name in (*modules, "inspection", "oracles", "plot", "polynomials", "report", "units"):
        module = importlib.import_module(f"vanishing.{name}")
        here = [n for n, value in vars(module).items() if _is_defined_in(module, n, value)]
        members = {n for n in getattr(module, "__all__", here) if callable(getattr(module, n))}
        assert {f"{name}.{member}" for member in members} <= listed


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=_name)
def test_examples_have_a_title(script):
    title, line = script.read_text(encoding="utf-8").splitlines()[1:3]
    assert script.name.startswith("plot_"), "the gallery runs scripts named plot_*"
    assert line == "=" * len(title)
