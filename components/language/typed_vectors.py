"""Parse vectors that a user types."""

import numpy as np

Array = np.ndarray


def parse_vectors(text: str, *, d: int, most: int = 500, largest: float = 1e6) -> Array:
    """Parse vectors (n, d) from text that a user typed.

    Vectors are separated by line breaks or semicolons, and the numbers of a vector by commas or spaces.
    Raises ValueError if there is no vector, or there are more than `most`. Raises ValueError with the number
    of the line if a word is not a number, a number is beyond ±`largest`, or a vector does not have d numbers.
    """
    lines = [(k, line) for k, line in enumerate(text.replace(";", "\n").splitlines(), 1) if line.strip()]
    if not lines:
        raise ValueError(
            f"no vectors yet: type {d} numbers a line, such as {', '.join(['3', '1', '4', '1', '5'][:d])}"
        )
    if len(lines) > most:
        raise ValueError(f"{len(lines)} vectors are more than {most}")
    return np.array([_vector(k, line, d, largest) for k, line in lines])


def _vector(k: int, line: str, d: int, largest: float) -> list[float]:
    words = line.strip().strip("()[]").replace(",", " ").split()
    numbers = []
    for word in words:
        try:
            number = float(word.replace("−", "-"))
        except ValueError:
            raise ValueError(f"line {k}: {word[:20]!r} is not a number") from None
        if not abs(number) <= largest:
            raise ValueError(f"line {k}: {word[:20]} is not within ±{largest:g}")
        numbers.append(number)
    if len(numbers) != d:
        found = "1 number" if len(numbers) == 1 else f"{len(numbers)} numbers"
        raise ValueError(f"line {k}: {found}, but d = {d}")
    return numbers
