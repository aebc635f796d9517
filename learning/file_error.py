"""The error of readers of files and links that anyone may have written."""


class FileError(ValueError):
    """Raised for a file or link that holds nothing valid; the message says in one line why."""
