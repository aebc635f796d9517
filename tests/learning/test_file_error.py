"""`readable` accepts a file that fits into memory, and refuses folders, pipes and devices."""

import os

import pytest

from learning import file_error
from learning.file_error import FileError, readable


def test_a_file_that_can_be_read_whole(tmp_path, monkeypatch):
    file, pipe, device = tmp_path / "file", tmp_path / "pipe", tmp_path / "device"
    file.write_bytes(b"four")
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    assert readable(str(file)) == file
    for path, reason in {
        tmp_path: "a folder",
        pipe: "a device or a pipe",
        device: "a device or a pipe",
    }.items():
        with pytest.raises(FileError, match=f"^{path} is {reason}, not a file$"):
            readable(path)
    with pytest.raises(FileNotFoundError):
        readable(tmp_path / "none")
    with pytest.raises(FileError, match="the character NUL"):
        readable("a\0b")
    monkeypatch.setattr(file_error, "free_bytes", lambda: 3.0)
    with pytest.raises(FileError, match="GB of memory are free"):
        readable(file)
