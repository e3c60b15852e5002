"""The project around the package: versions, addresses, workflows, the tour, docstrings."""

import ast
import importlib
import importlib.util
import inspect
import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, settings

import vanishing

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# In two parts, so that the command which replaces it everywhere leaves it here.
PLACEHOLDER = "https://" + "example.org/vanishing"

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="these files are in the repository alone")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def script(path):
    """Return a script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project():
    return tomllib.loads(read("pyproject.toml"))["project"]


@pytest.fixture(scope="module")
def changelog():
    return script(ROOT / ".ci" / "changelog.py")


# -- One version, one address ---------------------------------------------------------------------


def test_all_files_state_one_version(changelog, project):
    assert set(changelog.versions().values()) == {project["version"]}
    assert yaml.safe_load(read("CITATION.cff"))["version"] == project["version"]
    assert yaml.safe_load(read("conda/recipe.yaml"))["context"]["version"] == project["version"]


def test_all_files_agree_on_the_address(project):
    """Before and after the placeholder is replaced, as CONTRIBUTING.md says."""
    address = project["urls"]["Source"]
    # Pages may be hosted elsewhere one day.
    here = [url for name, url in project["urls"].items() if name != "Documentation"]
    assert all(url.startswith(address) for url in here)
    citation = yaml.safe_load(read("CITATION.cff"))
    recipe = yaml.safe_load(read("conda/recipe.yaml"))
    assert citation["repository-code"] == address
    assert recipe["about"]["homepage"] == recipe["about"]["repository"] == address
    assert recipe["source"]["url"] == f"{address}/archive/refs/tags/v${{{{ version }}}}.tar.gz"
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
        assert f"<{address}/security/advisories/new>" in read(name)
    config = yaml.safe_load(read(".github/ISSUE_TEMPLATE/config.yml"))
    assert all(link["url"].startswith(f"{address}/") for link in config["contact_links"])


def test_the_placeholder_is_the_only_one_and_goes_as_a_whole(project):
    tracked = subprocess.run(
        ["git", "grep", "-IhoE", r"[^ (<\"'|`]*example\.org[^ )>\"'|`]*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if tracked.returncode:
        pytest.skip("no files that git knows")
    for mention in (m for m in tracked.stdout.splitlines() if re.search("[:@]", m)):
        assert re.match(rf"{PLACEHOLDER}\b", mention), mention
    if project["urls"]["Source"] != PLACEHOLDER:  # then only where it is said how to replace it
        command = ["git", "grep", "-l", PLACEHOLDER]
        names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split()
        assert set(names) <= {"CONTRIBUTING.md", "tests/project/test_project.py"}


def test_authors_are_the_developers(project):
    assert project["authors"] == [{"name": "The vanishing developers"}]
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["authors"] == project["authors"]
    assert all(paper["title"] in read("README.md") for paper in citation["references"])


# -- What is released -----------------------------------------------------------------------------


def test_the_recipe_needs_what_the_package_needs(project):
    recipe = yaml.safe_load(read("conda/recipe.yaml"))
    needed = [f"python {project['requires-python']}", *project["dependencies"]]
    needed += project["optional-dependencies"]["app"]
    plain = {re.sub(r"\s", "", need) for need in needed}
    run = {need.replace("matplotlib-base", "matplotlib") for need in recipe["requirements"]["run"]}
    assert {re.sub(r"\s", "", need) for need in run} == plain
    points = [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == points


def test_the_lowest_versions_are_tested(project):
    lowest = dict(re.findall(r"^([\w-]+)==(\d+\.\d+)", read("tests/minimum.txt"), re.M))
    stated = dict(
        re.match(r"([\w-]+)>=(\d+\.\d+)", need).groups() for need in project["dependencies"]
    )
    assert lowest == {name: stated[name] for name in lowest}
    assert {"numpy", "scipy", "scikit-learn", "numba"} <= lowest.keys()
    versions = re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.M)
    assert project["requires-python"] == f">={versions[0]}"
    systems = yaml.safe_load(read(".github/workflows/tests.yml"))["jobs"]["systems"]
    assert systems["strategy"]["matrix"]["python"] == [versions[0], versions[-1]]


# -- Workflows and hooks --------------------------------------------------------------------------


def steps(workflow):
    for job in yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values():
        if "uses" in job:
            yield {"uses": job["uses"]}
        yield from job.get("steps", [])


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_use_what_is_there(workflow, project):
    extras = project["optional-dependencies"]
    for step in steps(workflow):
        uses, run = step.get("uses", ""), step.get("run", "")
        if uses.startswith("./"):
            assert (ROOT / uses).is_file()
        elif uses:  # a tag can be moved, a commit cannot
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", uses), uses
        for name in re.findall(r"(?<![\w/-])(?:\.ci|tests|docs)/[\w./]+", run):
            assert (ROOT / name).exists() or name.startswith("docs/_build"), run
        for names in re.findall(r"\.\[([\w,]+)\]", run):
            assert set(names.split(",")) <= extras.keys(), run


def test_a_job_may_do_no_more_than_it_says():
    for workflow in WORKFLOWS:
        settings = yaml.safe_load(workflow.read_text(encoding="utf-8"))
        assert settings["permissions"] in ({}, {"contents": "read"}), workflow.name
        for name, job in settings["jobs"].items():
            writes = "write" in job.get("permissions", {}).values()
            assert writes == ((workflow.name, name) == ("release.yml", "publish"))


def test_nothing_is_published_before_it_is_switched_on():
    jobs = yaml.safe_load(read(".github/workflows/release.yml"))["jobs"]
    assert jobs["publish"]["if"] == "vars.PUBLISH == 'yes'"
    assert jobs["publish"]["needs"] == "package" and jobs["package"]["needs"] == "version"


def test_other_settings_can_be_read(project):
    hosted = yaml.safe_load(read(".readthedocs.yaml"))
    assert (ROOT / hosted["sphinx"]["configuration"]).is_file()
    (install,) = hosted["python"]["install"]
    assert set(install["extra_requirements"]) <= project["optional-dependencies"].keys()
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        if form.name != "config.yml":
            settings = yaml.safe_load(form.read_text(encoding="utf-8"))
            ids = [field["id"] for field in settings["body"]]
            assert len(ids) == len(set(ids)) and settings["description"]
    (local,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert local["repo"] == "local"
    for hook in local["hooks"]:
        for name in re.findall(r"\.ci/\S+", hook["entry"]):
            assert (ROOT / name).is_file()


# -- The changelog --------------------------------------------------------------------------------

GOOD = (
    "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2030-01-31\n\n### Added\n\n- This,\n  that.\n"
)


def test_the_changelog_is_in_form(changelog):
    assert list(changelog.form(read("CHANGELOG.md"))) == []
    assert list(changelog.form(GOOD)) == []


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("## [Unreleased]\n\n", "", "first section"),
        ("2030-01-31", "soon", "is not of the form"),
        ("### Added", "### New", "none of Added"),
        ("- This", "This", "neither"),
        ("### Added", "### Added\n\n### Added", "twice"),
        ("- This", "- This\n\n## [0.3.0] - 2031-01-31\n\n- This", "falling order"),
    ],
)
def test_what_is_wrong_with_a_changelog_is_said(changelog, old, new, said):
    (problem,) = changelog.form(GOOD.replace(old, new))
    assert said in problem


def test_a_release_has_one_version_everywhere_and_its_section(changelog, project, monkeypatch):
    assert (
        list(changelog.unready(GOOD.replace("0.2.0", project["version"]), project["version"])) == []
    )
    monkeypatch.setattr(changelog, "versions", lambda: {"pyproject.toml": "0.1.0", "b": "0.2.0"})
    assert list(changelog.unready(GOOD, "0.2.0")) == ["pyproject.toml says 0.1.0, not 0.2.0"]
    late = GOOD.replace("[Unreleased]\n", "[Unreleased]\n\n### Fixed\n\n- More.\n")
    assert "still" in list(changelog.unready(late, "0.2.0"))[-1]
    assert "no section" in list(changelog.unready(GOOD, "0.3.0"))[-1]


def test_a_change_of_the_package_needs_a_line(changelog, tmp_path, monkeypatch):
    def git(*words):
        who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(changelog, "ROOT", tmp_path)
    git("init", "-b", "main")
    git("commit", "--allow-empty", "-m", "start")
    git("switch", "-c", "branch")
    (tmp_path / "README.md").write_text("read me")
    git("add", "."), git("commit", "-m", "no code")
    assert list(changelog.missing("main")) == []
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1")
    git("add", "."), git("commit", "-m", "code")
    (problem,) = changelog.missing("main")
    assert "add a line" in problem
    (tmp_path / "CHANGELOG.md").write_text("- a")
    git("add", "."), git("commit", "-m", "a line")
    assert list(changelog.missing("main")) == []


# -- The tour -------------------------------------------------------------------------------------


def test_the_notebook_is_the_tour_as_it_was_run():
    notebook = json.loads(read("examples/tour.ipynb"))
    cells = script(ROOT / "docs" / "make_tour.py").cells(read("examples/plot_tour.py"))
    assert [(c["cell_type"], "".join(c["source"])) for c in notebook["cells"]] == cells
    assert (ROOT / "examples" / "tour.ipynb").stat().st_size < 300_000
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    for cell in code:
        ast.parse("".join(cell["source"]))
        kinds = {output["output_type"] for output in cell["outputs"]}
        assert kinds and "error" not in kinds
    outputs = [output for cell in code for output in cell["outputs"]]
    shown = [
        "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
        for output in outputs
    ]
    for text in shown:
        assert not re.search(r"Warning|site-packages|/(home|root|tmp|Users)/", text)


# -- Docstrings -----------------------------------------------------------------------------------


def documented(value):
    """Return the names in the section Parameters of a docstring, or None without one."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", inspect.getdoc(value) or "", re.M | re.S
    )
    heads = re.findall(r"^(\*{0,2}\w.*?)(?: :.*)?$", section[1], re.M) if section else None
    return heads and [name.lstrip("*") for head in heads for name in head.split(", ")]


def public():
    for name in re.findall(r"^   ([\w.]+)$", read("docs/api.rst"), re.M):
        *modules, last = name.split(".")
        yield name, getattr(importlib.import_module(".".join(["vanishing", *modules])), last)


def test_documented_parameters_are_those_of_the_signature():
    """In their order. numpydoc's validation sees no fields of dataclasses."""
    for name, value in public():
        if (names := documented(value)) is not None:
            assert names == [*inspect.signature(value).parameters], name
        else:
            assert name not in vanishing.__all__, f"{name} does not describe its parameters"


# -- Tests ----------------------------------------------------------------------------------------


def test_no_example_is_too_slow_for_a_busy_machine():
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
    assert settings.default.derandomize or not os.environ.get("CI")


def test_every_room_has_a_folder_of_tests():
    package = Path(vanishing.__file__).parent
    rooms = {path.name for path in package.glob("[a-z]*") if path.is_dir()}
    folders = {path.parent.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert rooms <= folders and not list((ROOT / "tests").glob("test_*.py"))
