"""Write a file so that a failure, such as a full disk, leaves no part of it behind."""

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path


def write_whole(path: str | Path, data: bytes | str) -> None:
    """Write a file atomically: a temporary file beside it is renamed to `path` when it is complete.

    If this fails or is interrupted, a file that was there before stays as it was, and the temporary file is
    removed. If it succeeds, the new file has the permissions of the old one. If `path` is a symbolic link,
    the file to which it leads is written. Two kinds of files are written to directly: a device or pipe, such
    as /dev/null, and a file that cannot be replaced, because its folder is not writable. If writing fails
    there, part of `data` may be left in the file. data: bytes, or a text, which is encoded as UTF-8. Raises
    OSError, whose `filename` is `path`.
    """
    data = data.encode() if isinstance(data, str) else data
    try:
        _write(Path(path), data)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from None


def _write(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # by this name: a pipe behind /dev/stdout has no other
        return
    target = Path(os.path.realpath(path))
    # a random name, because containers that share the folder can have equal process numbers
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        part.write_bytes(data)
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except PermissionError:
        if not target.exists():
            raise
        target.write_bytes(data)
    finally:
        with suppress(OSError):
            part.unlink()
