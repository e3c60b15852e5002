"""Change the package at random, one place at a time, and see whether the nearest tests notice.

    python tests/mutants.py laws motion --seed 1 --count 20   # changes drawn in two rooms
    python tests/mutants.py --at rows/error_bars.py:87        # every change of one line

Changes are operators, constants and conditions; messages, annotations, numbers of display and those
that have a name at the top of a file are left alone. Each is made in a scratch copy of the package,
never in the working tree, and the tests of its room that reach the line are run, quickest first,
until one fails. A change that survives asks for a test, or changes no result: then it is
equivalent. Not part of CI.
"""

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "vanishing"
TIMES = "MUTANTS_TIMES"  # the environment variable that names the file of durations

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_NOT_FOUND = 4  # pytest's exit status: of names that are wrong, and of files that do not import
# Calls that only say something, and arguments that decide no result.
SPEAKING = {"warn", "print", "round"}
INDIFFERENT = {"strict", "stacklevel", "copy", "verbose"}
# Numbers that have a name were measured: others are worse by a little, not wrong.
NAMED = re.compile(r"__\w+__|\(?_?[A-Z][A-Z_0-9]*(, _?[A-Z][A-Z_0-9]*)*\)?")


# -- Changes --------------------------------------------------------------------------------------


class Mutant:
    """One change of one file: where, what, and the source with it."""

    def __init__(self, path, source, node, changed):
        self.path, self.line = path, node.lineno
        lines = source.encode().splitlines(keepends=True)
        start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
        end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
        before, after = ast.unparse(node), ast.unparse(changed)
        new = after if isinstance(node, ast.AugAssign) else f"({after})"
        self.source = (source.encode()[:start] + new.encode() + source.encode()[end:]).decode()
        self.change = f"{before}  ->  {after}".replace("\n", " ")

    def __str__(self):
        return f"{self.path.relative_to(PACKAGE)}:{self.line}: {self.change}"


def is_left_alone(node):
    """Say whether nothing in a node decides a result."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", getattr(node.func, "id", "")) in SPEAKING
    if isinstance(node, ast.keyword):
        return node.arg in INDIFFERENT
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.BinOp):
        return any(is_said(side) for side in (node.left, node.right))
    return isinstance(node, ast.Assign) and bool(NAMED.fullmatch(ast.unparse(node.targets[0])))


def is_said(node):
    """Say whether a node is text, or the None of a type: int | None."""
    constant = isinstance(node, ast.Constant) and isinstance(node.value, str | None)
    return isinstance(node, ast.JoinedStr) or constant


def places(node):
    """Yield the nodes below one that may be changed."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not is_left_alone(child):
                yield child
                yield from places(child)


def changes_of(node):
    """Yield the changed versions of a node."""
    changed = copy.deepcopy(node)
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        changed.op = OPERATORS[type(node.op)]()
        yield changed
    elif isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[i] = COMPARISONS[type(operator)]()
            yield changed
    elif isinstance(node, ast.BoolOp):
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield changed.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + max(1, node.value))
    if isinstance(node, ast.If | ast.While | ast.IfExp) and isinstance(
        node.test, ast.Name | ast.Attribute | ast.Call
    ):
        yield ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)


def mutants_of(path):
    """Return all changes of a file."""
    source = path.read_text(encoding="utf-8")
    found = []
    for node in places(ast.parse(source)):
        for changed in changes_of(node):
            target = node.test if isinstance(node, ast.If | ast.While | ast.IfExp) else node
            mutant = Mutant(path, source, target, changed)
            try:
                compile(mutant.source, path, "exec")
            except SyntaxError:
                continue
            found.append(mutant)
    return found


# -- Nearest tests --------------------------------------------------------------------------------


def pytest_runtest_logreport(report):
    """Note how long each test takes; this file is a plugin of the run that asks for it."""
    if name := os.environ.get(TIMES):
        with open(name, "a", encoding="utf-8") as file:
            file.write(f"{report.duration}\t{report.nodeid}\n")


def pytest(copied, arguments, *, seconds=None, **environment):
    """Run tests on a copy of the package; return the exit status, or None after that time."""
    path = os.pathsep.join([str(copied.parent), str(ROOT / "tests")])
    environment = {**os.environ, "PYTHONPATH": path, "CI": "1", **environment}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts="]
    command += ["-m", "not slow", *map(str, arguments)]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.run(
            command, cwd=ROOT, env=environment, timeout=seconds, **silent
        ).returncode
    except subprocess.TimeoutExpired:
        return None


class Nearest:
    """The tests of a room: which reach a line, and how long each takes."""

    def __init__(self, room, whole, folder):
        from coverage import CoverageData

        times, data = folder / f"{room}.times", folder / f"{room}.coverage"
        tests = [ROOT / "tests" / room]
        options = ["-p", "mutants", "--cov=vanishing", "--cov-context=test", "--cov-report="]
        status = pytest(
            whole, [*options, *tests], **{TIMES: str(times), "COVERAGE_FILE": str(data)}
        )
        if status != 0:
            raise SystemExit(f"The tests of {room} fail, or there are none, before any change.")
        self.seconds = defaultdict(float)
        for line in times.read_text(encoding="utf-8").splitlines():
            seconds, _, name = line.partition("\t")
            self.seconds[name] += float(seconds)
        coverage = CoverageData(str(data))
        coverage.read()
        self.reached = {}
        for name in coverage.measured_files():
            path = PACKAGE / Path(name).relative_to(whole)
            self.reached[path] = {
                line: {context.partition("|")[0] for context in contexts if context}
                for line, contexts in coverage.contexts_by_lineno(name).items()
            }
        self.lines = {
            path: path.read_text(encoding="utf-8").splitlines() for path in PACKAGE.rglob("*.py")
        }

    def of(self, mutant, limit):
        """Return the tests that reach a change, quickest first, of so many seconds together.

        Compiled functions and constants of modules are reached by the lines that name them.
        """
        tests = self.reached.get(mutant.path, {}).get(mutant.line, set())
        seen, names = set(), {name_around(mutant.path, mutant.line)}
        while not tests and names - seen:
            name = (names - seen).pop()
            seen.add(name)
            word = re.compile(rf"\b{re.escape(name)}\b")
            for path, lines in self.lines.items():
                for number, line in enumerate(lines, 1):
                    if word.search(line):
                        reached = self.reached.get(path, {}).get(number, set())
                        tests = tests | reached
                        if not reached and (around := name_around(path, number)):
                            names.add(around)
        chosen, total = [], 0.0
        for name in sorted(tests, key=lambda name: self.seconds[name]):
            total += self.seconds[name]
            if chosen and total > limit:
                break
            chosen.append(name)
        return chosen, min(total, limit)


def name_around(path, line):
    """Return the function, class or constant of a module that a line belongs to."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if node.lineno <= line <= node.end_lineno:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                return ast.unparse(target)
            return getattr(node, "name", "")
    return ""


# -- Runs -----------------------------------------------------------------------------------------


def changed_copy(whole, folder, mutant):
    """Copy the package with a change, and compiled kernels except those that it concerns."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    (folder / mutant.path.relative_to(PACKAGE)).write_text(mutant.source, encoding="utf-8")
    if "@njit" in mutant.source:  # kernels of other files may have it inside
        stem = re.compile(rf"\b{mutant.path.stem}\b")
        for path in folder.rglob("*.py"):
            if stem.search(path.read_text(encoding="utf-8")):
                for kernel in path.parent.glob(f"__pycache__/{path.stem}.*.nb?"):
                    kernel.unlink()
    return folder


def check_it_is_the_copy(copied):
    """Stop unless Python imports the package from the copy."""
    code = "import vanishing; print(vanishing.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(copied.parent)}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()
    if Path(found).parent != copied:
        raise SystemExit(f"Python imports {found} and not the copy in {copied}.")


def fate(mutant, nearest, whole, limit):
    """Return what becomes of a change, in words."""
    tests, seconds = nearest.of(mutant, limit)
    if not tests:
        return "survived", "no test reaches it"
    chosen = whole.parent / "tests.txt"
    chosen.write_text("\n".join(tests), encoding="utf-8")
    copied = changed_copy(whole, whole.parents[1] / "changed" / "vanishing", mutant)
    status = pytest(copied, ["-x", f"@{chosen}"], seconds=300 + 5 * seconds)
    if status == _NOT_FOUND and pytest(whole, ["--collect-only", f"@{chosen}"]) != 0:
        raise SystemExit(f"Tests cannot be called by their names: {tests}")
    how_many = f"{len(tests)} tests"
    if status is None:
        return "killed", f"{how_many}, out of time"
    return ("killed" if status else "survived"), how_many


def drawn(options):
    """Return the changes that were asked for, by room."""
    if options.at:
        chosen = []
        for place in options.at:
            name, _, line = place.partition(":")
            mutants = mutants_of(PACKAGE / name)
            chosen += [mutant for mutant in mutants if not line or mutant.line == int(line)]
    else:
        files = [path for room in options.rooms for path in sorted((PACKAGE / room).rglob("*.py"))]
        everything = [mutant for path in files for mutant in mutants_of(path)]
        number = min(options.count, len(everything))
        chosen = random.Random(options.seed).sample(everything, number)
    rooms = defaultdict(list)
    for mutant in chosen:
        rooms[mutant.path.relative_to(PACKAGE).parts[0]].append(mutant)
    return rooms


def main():
    """Make the changes, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    rooms = sorted(path.name for path in PACKAGE.glob("[a-z]*") if path.is_dir())
    parser.add_argument("rooms", nargs="*", default=rooms, help="folders of the package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20, help="how many changes to make")
    parser.add_argument("--at", action="append", help="FILE or FILE:LINE: all changes there")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for each change")
    options = parser.parse_args()
    counts = {"killed": 0, "survived": 0}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        whole = Path(shutil.copytree(PACKAGE, folder / "whole" / "vanishing"))
        check_it_is_the_copy(whole)
        for room, mutants in drawn(options).items():
            nearest = Nearest(room, whole, folder)
            for mutant in mutants:
                what, how = fate(mutant, nearest, whole, options.seconds)
                counts[what] += 1
                print(f"{what:8} {mutant} ({how})", flush=True)
    print(f"{counts['killed']} of {sum(counts.values())} killed")


if __name__ == "__main__":
    main()
