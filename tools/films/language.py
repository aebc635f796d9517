"""Language models, and what becomes of long texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from geometry import center
from learning.drift import along, drift, drifting, written
from learning.language import Shape, from_file, gain_and_shift, initial, layer_norm_of, measured, to_file
from learning.language_training import learned
from learning.recording import digest as recording
from learning.recording.ours import seen
from learning.shipped import FOLDER
from tools.films.store import digits_of, write_table

READERS, READ = 5, 1500  # language models of each kind, and steps that each learns
SLIDING, SLID = (32, 64, 256), 16  # windows that slide, and letters that are followed in them
TEN, FEW = 10, 64  # windows long is a text, and letters long what a model goes on with
PASSAGES, APART = 6, 560  # texts in which they slide, and how far these are apart
WINDOWS, VECTORS = 8, 600  # of the text that is recorded, and vectors of each norm that are kept


def language() -> None:
    """A language model with LayerNorm before the attention, and one whose LayerNorm there only centres.

    From texts that are shipped, too: the prose of the fourteen scenes that the site had when they were taken,
    and the last tenth of each, from which none has learned. The site goes on changing, what is learned does
    not.
    The first seed of each is shipped.
    """
    text, held = ((FOLDER / name).read_text("utf-8") for name in ("language_learned.txt", "language.txt"))
    rows = []
    for name, scaled in (("language", True), ("language_centred", False)):
        shape = Shape("".join(sorted(set(text))), scaled=scaled)
        for seed in range(READERS):
            weights = learned(shape, text, seed=seed, steps=READ)
            found = measured(shape, {part: w.astype(np.float64) for part, w in weights.items()}, held)
            figures = {
                part: [round(share, 4) for share in getattr(found, part)] for part in ("before", "after")
            }
            rows.append({"scaled": scaled, "seed": seed, "loss": round(found.loss, 4), **figures})
            print(f"  language: {rows[-1]}", flush=True)
            if seed == 0:
                about = {
                    "about": "a GPT of Normscape, from the texts of its scenes",
                    "seed": "0",
                    "steps": str(READ),
                }
                (FOLDER / f"{name}.safetensors").write_bytes(to_file(shape, weights, **about))
    write_table("language", rows)


def sliding() -> None:
    """How the vectors of letters drift as a window slides on, and what becomes of long texts.

    Of the language models, of as many with no norm at all, whose first is shipped, too. By window, by what
    changes ("places", "past") and by what is looked at (the stream; that part of it across 1; what attention
    reads) the `Drift` of each layer. read: loss and size of the text by windows, one more than ten; written:
    the same, of the text that the model writes.
    """
    text, held = ((FOLDER / name).read_text("utf-8") for name in ("language_learned.txt", "language.txt"))
    rows = []
    for name, options in ARMS_OF_LANGUAGE.items():
        shape = Shape("".join(sorted(set(text))), **options)
        tokens = shape.tokens(held)
        for seed in range(READERS):
            if seed == 0 and name != "language_unnormed":
                weights = from_file((FOLDER / f"{name}.safetensors").read_bytes())[1]
            else:
                weights = learned(shape, text, seed=seed, steps=READ)
            if seed == 0 and name == "language_unnormed":
                about = {"about": "a GPT of Normscape without norms", "seed": "0", "steps": str(READ)}
                (FOLDER / f"{name}.safetensors").write_bytes(to_file(shape, weights, **about))
            weights = {part: w.astype(np.float64) for part, w in weights.items()}
            row: dict[str, Any] = {"model": name, "seed": seed}
            row["loss"] = round(measured(shape, weights, held).loss, 4)
            found = along(shape, weights, tokens, window=shape.window, windows=TEN + 1, every=8)
            row["read"] = [digits_of(each) for each in found]
            found = written(shape, weights, tokens[:FEW], windows=TEN + 1, seed=seed)
            row["written"] = [digits_of(each) for each in found]
            row |= {
                kind: {w: drifts(shape, weights, tokens, w, kind) for w in SLIDING}
                for kind in ("places", "past")
            }
            rows.append(row)
            print(f"  drift: {name}, {seed}: {row['loss']}", flush=True)
            write_table("drift", rows)


ARMS_OF_LANGUAGE: dict[str, dict[str, Any]] = {
    "language": {},
    "language_centred": {"scaled": False},
    "language_unnormed": {"normed": False},
}


def drifts(
    shape: Shape, weights: Mapping[str, np.ndarray], tokens: np.ndarray, window: int, kind: Any
) -> dict[str, dict[str, list[float]]]:
    """Of what is looked at the numbers of `Drift`, each by layer."""
    options: dict[str, Any] = {"window": window, "letters": SLID, "layers": shape.layers, "kind": kind}
    sets = [drifting(shape, weights, tokens[APART * k :], **options) for k in range(PASSAGES)]
    streams = np.moveaxis(np.stack(sets), 1, 0)
    norm = layer_norm_of if shape.normed else gain_and_shift
    reads = [norm(weights, f"h.{k}.ln_1", x, scaled=shape.scaled) for k, x in enumerate(streams)]
    found: dict[str, Any] = {"stream": streams, "across": center(streams), "reads": reads}
    return {
        name: {
            number: digits_of(np.array([getattr(drift(x), number) for x in each]))
            for number in ("path", "spread", "share", "turn")
        }
        for name, each in found.items()
    }


def norms() -> None:
    """What the norms of the language model see, before its training and after, on the text that it has not
    learned from."""
    shape, weights = from_file((FOLDER / "language.safetensors").read_bytes())
    text = (FOLDER / "language.txt").read_text("utf-8")[: WINDOWS * shape.window]
    tokens = shape.tokens(text).reshape(-1, shape.window)
    start = {name: w.astype(np.float64) for name, w in initial(shape, 0).items()}
    for name, each, called in (("trained", weights, "trained"), ("start", start, "before training")):
        found = seen(shape, each, tokens, name=f"a small GPT, {called}", vectors=VECTORS)
        (FOLDER / f"norms_{name}.safetensors").write_bytes(recording.to_file(recording.digest(found)))
