"""A file is written as a whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from learning.file_write import write_whole


def test_a_file_is_replaced_as_a_whole(tmp_path):
    """`write_whole` keeps the permissions of a file that it replaces, and a symbolic link to the file.

    Nothing else is left in the folder.
    """
    file, link = tmp_path / "file", tmp_path / "link"
    write_whole(file, b"one")
    file.chmod(0o640)
    link.symlink_to("file")
    write_whole(str(link), "zwö")
    assert link.is_symlink() and file.read_text("utf-8") == "zwö"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640 and sorted(tmp_path.iterdir()) == [file, link]


def test_a_long_name_is_possible(tmp_path):
    file = tmp_path / ("a" * 255)
    write_whole(file, "one")
    assert file.read_text() == "one"


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_older_file(tmp_path, monkeypatch, problem):
    file = tmp_path / "file"
    file.write_text("older")

    def stop(path, data):
        path.touch()
        raise problem

    monkeypatch.setattr(Path, "write_bytes", stop)
    with pytest.raises(type(problem)) as raised:
        write_whole(file, b"newer")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["older"]
    assert isinstance(problem, KeyboardInterrupt) or raised.value.filename == str(file)


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    write_whole("/dev/null", b"one")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as raised:
        write_whole(full, b"one")
    assert raised.value.filename == str(full)


def test_a_folder_and_a_missing_folder_are_named(tmp_path):
    for path in (tmp_path, tmp_path / "none" / "file"):
        with pytest.raises(OSError) as raised:
            write_whole(path, b"one")
        assert raised.value.filename == str(path) and not list(tmp_path.iterdir())


def test_a_pipe_is_written_to():
    """`write_whole` can write to a pipe, given by a name such as /dev/fd/3.

    The link /dev/stdout leads to such a name. `realpath` would follow the name to a file that does not exist.
    """
    read, write = os.pipe()
    write_whole(f"/dev/fd/{write}", b"one")
    os.close(write)
    with open(read, "rb") as pipe:
        assert pipe.read() == b"one"
