"""Check the changelog: its form, a line for every change of the package, one version at a release.

python .ci/changelog.py                     # its form
python .ci/changelog.py --since origin/main # and: a branch that changes the package adds a line
python .ci/changelog.py --release 0.2.0     # and: this version is ready to be tagged
"""

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
_RELEASE = re.compile(r"\[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d{2}-\d{2}")
_STATED = {
    "CITATION.cff": r"^version: (.+)$",
    "conda/recipe.yaml": r"^  version: (.+)$",
}


def sections(text):
    """Return the sections of a changelog, by their headings."""
    parts = re.split(r"^## +(.*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def form(text):
    """Return what is wrong with the form of a changelog."""
    headings = re.findall(r"^## +(.*)$", text, re.M)
    if headings[:1] != ["[Unreleased]"]:
        yield "the first section is not '## [Unreleased]'"
    released = []
    for heading in headings[1:]:
        if (match := _RELEASE.fullmatch(heading)) is None:
            yield f"'## {heading}' is not of the form '## [1.2.3] - 2030-01-31'"
        else:
            released.append(tuple(map(int, match.groups())))
    if released != sorted(set(released), reverse=True):
        yield "releases are not in falling order"
    for heading, section in sections(text).items():
        kinds = re.findall(r"^### +(.*)$", section, re.M)
        for kind in kinds:
            if kind not in KINDS:
                yield f"'### {kind}' of {heading} is none of {', '.join(KINDS)}"
        if kinds != sorted(set(kinds), key=kinds.index):
            yield f"a kind of change stands twice in {heading}"
        for line in section.splitlines():
            if line and not line.startswith(("### ", "- ", "  ")):
                yield f"{line!r} of {heading} is neither '- ' nor indented"


def missing(base):
    """Return what is wrong where the package changed since a commit and the changelog did not."""
    command = ["git", "diff", "--name-only", f"{base}...HEAD"]
    changed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = changed.splitlines()
    if any(name.startswith("src/") for name in names) and "CHANGELOG.md" not in names:
        yield (
            "src/ changed since " + base + ": add a line under [Unreleased] "
            "(or, where no user can notice, label the pull request 'no changelog')"
        )


def versions():
    """Return the version that each file states."""
    stated = {"pyproject.toml": tomllib.loads(_read("pyproject.toml"))["project"]["version"]}
    for name, pattern in _STATED.items():
        stated[name] = re.search(pattern, _read(name), re.M)[1].strip("\"'")
    return stated


def unready(text, version):
    """Return what is wrong where a version is about to be released."""
    for name, stated in versions().items():
        if stated != version:
            yield f"{name} says {stated}, not {version}"
    found = sections(text)
    if not any(heading.startswith(f"[{version}] - ") for heading in found):
        yield f"there is no section '## [{version}] - YYYY-MM-DD'"
    if found.get("[Unreleased]", "").strip():
        yield "there are lines under [Unreleased] still"


def _read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def main():
    """Print what is wrong, and fail if something is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--release", metavar="VERSION")
    options = parser.parse_args()
    text = _read("CHANGELOG.md")
    wrong = list(form(text))
    if options.since:
        wrong += missing(options.since)
    if options.release:
        wrong += unready(text, options.release)
    for problem in wrong:
        print(f"CHANGELOG.md: {problem}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
