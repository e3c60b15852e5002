#!/usr/bin/env python3
"""How well the pages read: lengths of sentences, and words that make riddles.

``python .ci/prose.py`` measures README.md, docs/*.md and the docstrings of the reference,
``python .ci/prose.py COMMIT`` those of a commit. ``python .ci/prose.py --list 30 docs/laws.md``
prints a page's sentences of more than 30 words and its riddles, with their lines. docs/style.md
says how to write instead.
"""

import argparse
import ast
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONG = 30  # words
REFERENCE = "docs/api.rst"
# Generated, or not meant to be read as text.
NO_PROSE = {"docs/changelog.md", "docs/performance.md", "docs/contributing.md"}

# What readers stumbled over. Each is a way of writing, not a mistake by itself: docs/style.md
# shows what to write instead.
_NOUN = "line|row|column|file|folder|table|class|page|law|picture|point|run|group|degree|step"
RIDDLES = {
    "said, told": r"\b(?:un)?said\b|\btold\b",
    "whoever, what there is": r"\bwho(?:ever|soever)\b|\bwhat there is\b",
    "less what": r"\bless (?:what|those|that)\b",
    "is looked at": r"\b(?:is|are|was|were) (?:looked (?:at|for)|warned of|added to|asked of)\b",
    "What ... is, as a subject": r"(?:^|[.;:] )What (?!.*\?)[^.,]{1,60} (?:is|are|has|was|goes)\b",
    "what is, as an object": r"\bwhat (?:is|are|has|was) (?!(?:it|this|a|the|left|wrong)\b)\w+",
    "it is ... that": r"\bit is (?!(?:likely|clear|true|possible|rare)\b)[^.,;]{1,30} that\b",
    "only terms go on that": r"\b(?:only|no|those) [^.,;]{0,30} (?:goes|go|joins?) (?:on )?that\b",
    "a line a degree": rf"\b(?:a|one) (?:{_NOUN}) an? (?:{_NOUN})\b",
    "as far as": r"\bas far as\b",
    "no less than": r"\bno (?:less|more) than\b",
    "beside": r"\bbeside\b",
    "of ours, of theirs": r"\bof (?:ours|theirs)\b",
    "without a rest": r"\bwithout a rest\b|\bin turn\b|\bon its way\b",
    "but for": r"\bbut for\b|\bsave for\b",
}


@dataclass(frozen=True)
class Sentence:
    """A sentence of a page, and the line on which its paragraph begins."""

    text: str
    line: int

    @property
    def n_words(self):
        """How many words it has; a dash between two is none."""
        return len(re.findall(r"\S*\w\S*", self.text))


def paragraphs(source):
    """Yield (line, text) of what is read as text: no code, tables, headings, comments, formulas."""

    def blank(match):  # keeps the lines, so that places stay true
        return re.sub(r"[^\n]", "", match[0])

    source = re.sub(r"<!--.*?-->", blank, source, flags=re.S)
    source = re.sub(r"^( *)(```+|:::+).*?^\1\2 *$", blank, source, flags=re.M | re.S)
    source = re.sub(r"\$\$.*?\$\$", blank, source, flags=re.S)
    lines, start = [], 0
    for number, line in enumerate([*source.splitlines(), ""], 1):
        stripped = line.strip()
        new = not stripped or re.match(r"[-*+] |\d+\. |>|\|.*\|$|#|!\[.*\)$|\(.*\)=$|: ", stripped)
        if new and lines:
            yield start, " ".join(lines)
            lines = []
        if not stripped or re.match(r"\|.*\|$|#|!\[.*\)$|\(.*\)=$", stripped):
            continue
        if not lines:
            start = number
        lines.append(re.sub(r"^(?:[-*+]|\d+\.|>|:) +", "", stripped))


def sentences(source):
    """Return the sentences of a page."""
    found = []
    for line, text in paragraphs(source):
        text = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", text)  # links
        text = re.sub(r"`+[^`]*`+|\$[^$]+\$", "Code", text)  # code and formulas are one word each
        text = re.sub(r"[*_]{1,2}(\S(?:.*?\S)?)[*_]{1,2}", r"\1", text)
        text = re.sub(r"\b([A-Z]|e\.g|i\.e|et al|cf|Fig|vs|approx)\. ", r"\1 ", text)
        for part in re.split(r"(?<=[.!?])[)\"”]* +(?=[A-Z0-9\"“(]|psi |mse |scikit)", text):
            if re.search(r"\w", part):
                found.append(Sentence(part.strip(), line))
    return found


def riddles(found):
    """Return (kind, match, line) of the riddles in sentences."""
    return [
        (kind, match[0].strip(" .;:"), sentence.line)
        for sentence in found
        for kind, pattern in RIDDLES.items()
        for match in re.finditer(pattern, sentence.text)
    ]


@dataclass(frozen=True)
class Measure:
    """What is counted on a page or on all of them."""

    n_sentences: int
    words: float  # per sentence
    longest: int
    long: float  # their share
    n_riddles: int

    @classmethod
    def of(cls, found):
        """Measure sentences."""
        lengths = [sentence.n_words for sentence in found]
        n = max(len(lengths), 1)
        return cls(
            n_sentences=len(lengths),
            words=sum(lengths) / n,
            longest=max(lengths, default=0),
            long=sum(length > LONG for length in lengths) / n,
            n_riddles=len(riddles(found)),
        )

    def __str__(self):
        return (
            f"{self.n_sentences:5} sentences, {self.words:5.1f} words each, longest "
            f"{self.longest:3}, {self.long:6.1%} over {LONG} words, {self.n_riddles:4} riddles"
        )


def git(*words):
    """Return what git prints."""
    command = ["git", *words]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def pages(commit=None):
    """Return the text of each page, by its name, as it is here or in a commit."""
    if commit is None:
        found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        names = [path.relative_to(ROOT).as_posix() for path in found]
    else:
        names = git("ls-tree", "-r", "--name-only", commit, "README.md", "docs").split()
    names = sorted(name for name in names if name.endswith(".md") and "_build" not in name)
    return {
        name: (ROOT / name).read_text(encoding="utf-8")
        if commit is None
        else git("show", f"{commit}:{name}")
        for name in names
        if name not in NO_PROSE
    }


def reference(commit=None):
    """Return the docstrings of the names in the reference as one page, here or in a commit."""
    if commit is None:
        listed = (ROOT / REFERENCE).read_text(encoding="utf-8")
        files = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py"))]
    else:
        listed = git("show", f"{commit}:{REFERENCE}")
        names = git("ls-tree", "-r", "--name-only", commit, "src").split()
        files = [git("show", f"{commit}:{name}") for name in names if name.endswith(".py")]
    wanted = set(re.findall(r"^   (?:\w+\.)*(\w+)$", listed, re.M))
    found = []
    for source in files:
        for node in ast.parse(source).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in wanted:
                methods = [n for n in getattr(node, "body", ()) if isinstance(n, ast.FunctionDef)]
                public = [method for method in methods if not method.name.startswith("_")]
                found += [ast.get_docstring(n) or "" for n in (node, *public)]
    return "\n\n".join(map(plain_docstring, found))


def plain_docstring(text):
    """Return the sentences of a docstring: no examples, references, headings or declarations."""
    text = re.split(r"^References\n-+$", text, flags=re.M)[0]
    text = re.sub(r"^ *>>> (?:.+\n?)+", "\n", text, flags=re.M)  # with what they print
    text = re.sub(r"^.+\n-{3,}$", "\n", text, flags=re.M)
    text = re.sub(r"^ *[\w., *]+(?: : .*)?\n(?=    )", "\n", text, flags=re.M)
    return re.sub(r"``.+?``|`[^`]+`", "`code`", text, flags=re.S)


def main():
    """Print what is measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", help="a commit; the files here if it is left out")
    parser.add_argument("--list", nargs="+", metavar=("WORDS", "PAGE"), help="print what is long")
    options = parser.parse_args()
    texts = pages(options.commit)
    if options.list:
        limit, *names = options.list
        texts |= {REFERENCE: reference(options.commit)}
        for name in names or texts:
            found = sentences(texts[name])
            for sentence in found:
                if sentence.n_words > int(limit):
                    print(f"{name}:{sentence.line}: {sentence.n_words} words: {sentence.text}")
            for kind, match, line in riddles(found):
                print(f"{name}:{line}: {kind}: {match}")
        return
    for name, text in texts.items():
        print(f"{name:32} {Measure.of(sentences(text))}")
    print(f"{'all':32} {Measure.of([s for text in texts.values() for s in sentences(text)])}")
    print(f"{REFERENCE:32} {Measure.of(sentences(reference(options.commit)))}")


if __name__ == "__main__":
    main()
