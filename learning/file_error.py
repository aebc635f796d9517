"""The error that readers of untrusted files and links raise."""

import json
from typing import Any


class FileError(ValueError):
    """Raised for an invalid file or link, with a one-line message that says what is wrong."""


def strict_json(text: str | bytes) -> Any:
    """Parse JSON, in UTF-8 if it is bytes. Raises FileError for invalid JSON, and for NaN and Infinity."""
    try:
        return json.loads(text if isinstance(text, str) else text.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise FileError("the description in this file is not valid JSON") from None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
