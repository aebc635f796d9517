"""Error messages for invalid recipes. Each is one line: which part, what is wrong, what would be right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

import numpy as np

MAX_NAMES_SHOWN = 6  # names in a message


class WrongRecipe(ValueError):
    """Raised for an invalid recipe, with a message for the author of the scene."""


def refuse(where: str, wrong: str, remedy: str) -> NoReturn:
    raise WrongRecipe(f"{where}: {wrong}; {remedy}")


def check_known(where: str, kind: str, name: Any, names: Collection[str]) -> None:
    """Raise WrongRecipe unless `name` is one of `names`; the message lists them.

    If there are more than MAX_NAMES_SHOWN, it lists only that many, the most similar ones first.
    kind: what the names are names of, such as "cloud". where: the part of the recipe, for the message.
    """
    if name in names:
        return
    many = len(names) > MAX_NAMES_SHOWN
    near = list(get_close_matches(str(name), map(str, names), MAX_NAMES_SHOWN) if many else names)
    shown = [*near, *(other for other in names if other not in near)][:MAX_NAMES_SHOWN]
    more = ", …" if len(names) > len(shown) else ""
    refuse(where, f"there is no {kind} {name!r}", f"take one of {', '.join(map(repr, shown))}{more}")


def check_unique(kind: str, names: Sequence[str]) -> list[str]:
    """Return `names` as a list. Raises WrongRecipe if a name occurs twice.

    kind: what the names are names of, such as "cloud", for the message.
    """
    for name, count in Counter(names).items():
        if count > 1:
            refuse(f"{kind} {name!r}", f"there are {count} with this name", "give each its own name")
    return list(names)


def check_finite(where: str, numbers: Iterable[float]) -> None:
    if not all(math.isfinite(x) for x in numbers):
        refuse(where, "a number is not finite", "take finite numbers")


def check_indices(where: str, what: str, numbers: Any, low: int, count: int) -> None:
    """Raise WrongRecipe unless all `numbers` are integers from `low` to `count` − 1.

    where, what: the part of the recipe, and the name of the numbers, for the message.
    """
    array = np.asarray(numbers)
    if array.size and (array.dtype.kind not in "iu" or array.min() < low or array.max() >= count):
        refuse(
            where, f"{what} has numbers that are not indices", f"take whole numbers from {low} to {count - 1}"
        )


def check_length(where: str, what: str, found: Any, count: int, of: str) -> None:
    """Raise WrongRecipe unless the sequence `found` has `count` entries.

    The other arguments are texts for the message. where: the part of the recipe. what: the name of the
    sequence. of: a noun for the things that each have one entry, such as "point".
    """
    if len(found) != count:
        refuse(where, f"{what} has {len(found)} entries", f"take {count}, one for each {of}")
