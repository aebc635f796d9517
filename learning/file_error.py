"""FileError, which is raised for invalid files and links, and functions that check or parse such files."""

import json
from pathlib import Path
from typing import Any

from learning.memory import free_bytes

MAX_MESSAGE_CHARACTERS = 300


class FileError(ValueError):
    """Raised for an invalid file or link, with a one-line message that says what is wrong."""


def one_line(problem: BaseException) -> str:
    """The message of an exception in one line, cut to MAX_MESSAGE_CHARACTERS.

    It is for exceptions of other libraries, whose messages may be long.
    """
    return " ".join(str(problem).split())[:MAX_MESSAGE_CHARACTERS]


def readable(path: str | Path) -> Path:
    """Check that a file can be read whole, and return its path.

    Raises FileError unless it is a regular file that fits into the free memory: a device such as /dev/zero,
    or a pipe, cannot be read whole. Also raises it for a name with the character NUL, and OSError if there is
    no such file.
    """
    path = Path(path)
    if "\0" in str(path):
        raise FileError("the name of a file cannot contain the character NUL")
    size = path.stat().st_size
    if not path.is_file():
        raise FileError(f"{path} is {'a folder' if path.is_dir() else 'a device or a pipe'}, not a file")
    if size > (free := free_bytes()):
        raise FileError(f"{path} has {size / 1e9:.1f} GB, and {free / 1e9:.1f} GB of memory are free")
    return path


def strict_json(text: str | bytes) -> Any:
    """Parse JSON, in UTF-8 if it is bytes. Raises FileError for invalid JSON, and for NaN and Infinity."""
    try:
        return json.loads(text if isinstance(text, str) else text.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise FileError("the description in this file is not valid JSON") from None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
