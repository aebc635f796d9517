"""The error that readers of untrusted files and links raise."""

import json
from typing import Any


class FileError(ValueError):
    """Raised for a file or link that holds nothing valid; the message says in one line why."""


def strict_json(text: str | bytes) -> Any:
    """Parse JSON in UTF-8, without NaN and Infinity. Raises FileError."""
    try:
        return json.loads(text if isinstance(text, str) else text.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise FileError("the description in this file is not valid JSON") from None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
