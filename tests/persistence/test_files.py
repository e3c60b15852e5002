"""Files are written whole or not at all, with the permissions and links that were there."""

import errno
import os
import random
import re
import signal
import stat
import time
from pathlib import Path

import pytest
from helpers import forked, needs_fork
from sklearn.datasets import load_iris
from sklearn.preprocessing import MinMaxScaler

import vanishing
from vanishing import OAVI
from vanishing.persistence.files import write_atomically

Z = MinMaxScaler().fit_transform(load_iris().data)


@pytest.fixture(scope="module")
def two():
    return OAVI(0.01).fit(Z), OAVI(0.001).fit(Z)


@needs_fork
def test_killed_at_any_moment_a_file_is_the_old_one_or_the_new_one(tmp_path, two):
    path = tmp_path / "model.json"
    two[0].save(path)
    choose, seen = random.Random(0), set()

    def save_for_ever():
        while True:
            for model in two:
                model.save(path)

    for _ in range(25):
        child = forked(save_for_ever)
        time.sleep(0.01 + 0.02 * choose.random())
        os.kill(child, signal.SIGKILL)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        seen.add(vanishing.load(path).psi)
    assert seen <= {0.01, 0.001}
    for left in set(tmp_path.iterdir()) - {path}:
        assert re.fullmatch(r"\.model\.json\.[0-9a-f]{8}\.tmp", left.name)


@needs_fork
def test_a_file_that_must_not_grow_leaves_the_earlier_one(tmp_path, two):
    resource = pytest.importorskip("resource")
    path = tmp_path / "model.json"
    two[0].save(path)
    before = path.read_bytes()

    def save():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # as a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            two[1].save(path)
        except OSError as problem:
            assert problem.errno == errno.EFBIG
            assert "the file is as before" in str(problem)
        else:
            raise AssertionError

    assert os.waitpid(forked(save), 0)[1] == 0
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("broken", ["os.chmod", "os.fsync", "os.replace"])
def test_nothing_is_left_of_a_write_that_fails(tmp_path, monkeypatch, broken):
    path = tmp_path / "file"
    path.write_text("old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(broken, interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_permissions_are_kept_and_those_of_new_files_are_the_usual_ones(tmp_path, two, monkeypatch):
    def refuse(mask):
        raise AssertionError("the mask belongs to the process, and threads may race for it")

    for name in ("usual", "private.json"):
        (tmp_path / name).touch()
    usual = stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    os.chmod(tmp_path / "private.json", 0o600)
    monkeypatch.setattr(os, "umask", refuse)
    for name, mode in (("private.json", 0o600), ("new.json", usual)):
        two[0].save(tmp_path / name)
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode


def test_a_private_file_is_private_before_it_is_written(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")
    os.chmod(path, 0o600)
    seen = []

    def look(handle):
        seen.append(stat.S_IMODE(os.fstat(handle).st_mode))

    monkeypatch.setattr(os, "fsync", look)
    write_atomically(path, "new")
    assert seen == [stat.S_IMODE(path.stat().st_mode)]


def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path, two):
    (tmp_path / "versions").mkdir()
    target, link = tmp_path / "versions" / "1.json", tmp_path / "current.json"
    link.symlink_to(Path("versions") / "1.json")
    for model in two:  # the first time it points nowhere
        model.save(link)
        assert link.is_symlink() and not target.is_symlink()
        assert vanishing.load(target).psi == vanishing.load(link).psi == model.psi
    assert {path.name for path in tmp_path.rglob("*")} == {"versions", "1.json", "current.json"}


def test_what_is_no_file_is_not_replaced(tmp_path, two):
    folder, loop = tmp_path / "folder", tmp_path / "loop"
    folder.mkdir()
    loop.symlink_to(loop)
    with pytest.raises(IsADirectoryError, match="only a file can be replaced"):
        two[0].save(folder)
    with pytest.raises(OSError, match="not saved"):
        two[0].save(loop)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="only a file can be replaced"):
            two[0].save(tmp_path / "pipe")
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert not list(folder.iterdir())
    assert loop.is_symlink()


def test_names_may_be_as_long_as_the_system_has_them(tmp_path, two):
    for name in ("n" * 250, "\u00e4" * 125):
        two[0].save(tmp_path / name)
        assert vanishing.load(tmp_path / name).psi == two[0].psi
