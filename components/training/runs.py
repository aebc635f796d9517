"""Films of trainings that were run here, by the key of their contents, for a while."""

from __future__ import annotations

import re

from components.scene import WrongValue
from components.training import store
from geometry.film import Film, FilmError, from_npz, key, to_npz

KEPT_DAYS = 30
KEY = re.compile("[0-9a-f]{16}")


def save(film: Film) -> str:
    """Store a film; its key. Raises store.Away."""
    name = key(film)
    store.here().set(_place(name), to_npz(film), KEPT_DAYS * 86400)
    return name


def load(run: str) -> Film:
    """The film of a key. Raises WrongValue for a text that is none, or a film that cannot be had."""
    if not KEY.fullmatch(run):
        raise WrongValue("run", f"run={run[:40]!r} is not the key of a run", "16 digits, 0-9 and a-f")
    try:
        data = store.here().get(_place(run))
    except store.Away:
        raise WrongValue("run", "trained runs cannot be reached now; try again", "try again") from None
    if data is None:
        gone = f"run {run} is not here, or no longer: a run is kept {KEPT_DAYS} days"
        raise WrongValue("run", f"{gone}; open its file, or train again", "the key of a run that is kept")
    try:
        return from_npz(data)
    except FilmError as problem:  # of another version, say
        raise WrongValue("run", f"run {run} cannot be read: {problem}", "train again") from None


def _place(run: str) -> str:
    return f"film:{run}"
