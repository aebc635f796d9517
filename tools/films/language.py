"""Train the small language models that several scenes show, and measure them on sliding windows of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from geometry import center
from learning.drift import drift, streams_as_window_slides
from learning.language import (
    EPS,
    Reading,
    Shape,
    forward,
    from_file,
    gain_and_shift,
    initial,
    layer_norm_of,
    losses,
    measured,
)
from learning.recording import digest as recording
from learning.recording.recording import Norm, Recording
from learning.shipped import FOLDER
from tools.films.language_training import learned
from tools.films.store import digits_of, texts, write_model, write_table

MODELS_PER_KIND, TRAINING_STEPS = 5, 1500
# sizes of the sliding windows, and the number of letters whose vectors are measured while a window slides
WINDOW_SIZES, FOLLOWED_LETTERS = (32, 64, 256), 16
TEXT_WINDOWS, PROMPT_LETTERS = 10, 64  # length of a text in windows; letters that start a generated text
PASSAGES, PASSAGE_DISTANCE = 6, 560  # number of passages of the text, and letters between their starts
FOLDING_REASON = "only Linears, embeddings and parameters write its input"
RECORDED_WINDOWS, RECORDED_VECTORS = 8, 600  # windows of text, and sampled vectors of each norm


def language() -> None:
    """Train two kinds of language models: with LayerNorm before attention, or with mere centring there.

    Writes the table "language", with a row per model, and the weights of each kind's first model. The text is
    the prose of the fourteen scenes that this site had at the time; its last tenth is held out from training.
    Both parts are shipped in films/.
    """
    text, held = texts("language_learned", "language")
    rows = []
    for name, scaled in (("language", True), ("language_centred", False)):
        shape = Shape("".join(sorted(set(text))), scaled=scaled)
        for seed in range(MODELS_PER_KIND):
            weights = learned(shape, text, seed=seed, steps=TRAINING_STEPS)
            found = measured(shape, {part: w.astype(np.float64) for part, w in weights.items()}, held)
            figures = {
                part: [round(share, 4) for share in getattr(found, part)] for part in ("before", "after")
            }
            rows.append({"scaled": scaled, "seed": seed, "loss": round(found.loss, 4), **figures})
            print(f"  language: {rows[-1]}", flush=True)
            if seed == 0:
                about = "a GPT of Normscape, from the texts of its scenes"
                write_model(name, shape, weights, about, TRAINING_STEPS)
    write_table("language", rows)


def sliding() -> None:
    """Write the table "drift": how letters' vectors drift as a window slides, and the loss on long texts.

    The models are those of `language`, and models without norms, of which the first is written to films/. The
    table has a row for each kind of model and seed:

    loss           the loss on the held-out text
    read           two lists, of losses and of vector lengths, as the window slides along the held-out text
                   (see `loss_along_text`)
    written        the same for a text that the model generates (see `loss_along_own_text`)
    places         the numbers of `drifts` by window size, for a window that gives its tokens new positions as
                   it slides
    past           the same, for tokens that keep their positions while the earliest ones are removed

    Run `language` first: the first models of the two kinds with norms are read from its files. All others
    are trained anew. See `streams_as_window_slides` for the two ways to slide.
    """
    text, held = texts("language_learned", "language")
    rows = []
    for name, options in ARMS_OF_LANGUAGE.items():
        shape = Shape("".join(sorted(set(text))), **options)
        tokens = shape.tokens(held)
        for seed in range(MODELS_PER_KIND):
            if seed == 0 and name != "language_unnormed":
                weights = from_file((FOLDER / f"{name}.safetensors").read_bytes())[1]
            else:
                weights = learned(shape, text, seed=seed, steps=TRAINING_STEPS)
            if seed == 0 and name == "language_unnormed":
                write_model(name, shape, weights, "a GPT of Normscape without norms", TRAINING_STEPS)
            weights = {part: w.astype(np.float64) for part, w in weights.items()}
            row: dict[str, Any] = {"model": name, "seed": seed}
            row["loss"] = round(measured(shape, weights, held).loss, 4)
            found = loss_along_text(
                shape, weights, tokens, window=shape.window, windows=TEXT_WINDOWS + 1, every=8
            )
            row["read"] = [digits_of(each) for each in found]
            found = loss_along_own_text(
                shape, weights, tokens[:PROMPT_LETTERS], windows=TEXT_WINDOWS + 1, seed=seed
            )
            row["written"] = [digits_of(each) for each in found]
            row |= {
                kind: {w: drifts(shape, weights, tokens, w, kind) for w in WINDOW_SIZES}
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
    """Measure how far a model's vectors drift as a window slides along a text, in each layer.

    Returns {name: {number: list over layers}}. The numbers are the fields of `Drift`: path, spread, share and
    turn. The names are three sets of vectors:

    stream   the residual stream before each layer
    across   the same vectors, centred
    reads    the input of attention in each layer, after the norm

    tokens: the text. window: the size of the window. kind: what changes as it slides (see
    `streams_as_window_slides`).
    """
    slid = partial(
        streams_as_window_slides, window=window, letters=FOLLOWED_LETTERS, depths=shape.layers, kind=kind
    )
    sets = [slid(shape, weights, tokens[PASSAGE_DISTANCE * k :]) for k in range(PASSAGES)]
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


def loss_along_text(
    shape: Shape,
    weights: Mapping[str, np.ndarray],
    tokens: Int[np.ndarray, "n"],
    *,
    window: int,
    windows: int,
    every: int,
) -> Float[np.ndarray, "2 windows"]:
    """The loss, and the root mean square length of the last layer's inputs, as a window slides along a text.

    The window has `window` tokens, and moves by `every` tokens at a time. The first row of the result has the
    loss, the second row the length. Column k is an average over all windows that start at one of the
    positions k·`window` … (k + 1)·`window` − 1. Raises ValueError if `every` does not divide `window`, or
    if the last window would reach beyond the end of `tokens`.
    """
    if window % every:
        raise ValueError(f"a step of {every} tokens does not divide the window of {window}")
    starts = np.arange(0, windows * window, every)
    if len(tokens) < (wanted := starts[-1] + window):
        raise ValueError(f"{windows} means over windows of {window} need {wanted} tokens: got {len(tokens)}")
    measures = []
    for start in starts:
        seen = tokens[start : start + window]
        reading = forward(shape, weights, seen)
        measures.append([losses(reading.logits, seen).mean(), _mean_square_length(reading)])
    return _window_means(measures, windows)


def loss_along_own_text(
    shape: Shape,
    weights: Mapping[str, np.ndarray],
    tokens: Int[np.ndarray, "window"],
    *,
    windows: int,
    seed: int,
) -> Float[np.ndarray, "2 windows"]:
    """The loss, and the RMS length of the last layer's inputs, along a text that the model itself generates.

    `tokens` is the first window. Each next token is sampled from the model's prediction for the last window;
    its loss is measured under that same prediction. The rows of the result are as in `loss_along_text`. Each
    of the `windows` columns is an average over as many new tokens as a window has.
    """
    rng, window, text = np.random.default_rng(seed), len(tokens), list(tokens)
    measures = []
    for _ in range(windows * window):
        reading = forward(shape, weights, np.array(text[-window:]))
        guess = np.exp(reading.logits[-1] - reading.logits[-1].max())
        guess /= guess.sum()
        text.append(int(rng.choice(len(guess), p=guess)))
        measures.append([-np.log(guess[text[-1]]), _mean_square_length(reading)])
    return _window_means(measures, windows)


def _mean_square_length(reading: Reading) -> float:
    """The mean square of the lengths of the last layer's inputs."""
    return float((reading.blocks[-1].stream ** 2).sum(-1).mean())


def _window_means(measures: Sequence[Sequence[float]], windows: int) -> Float[np.ndarray, "2 windows"]:
    """Average pairs (loss, mean square length) over `windows` equal parts; returns losses and RMS lengths."""
    loss, size = np.array(measures).reshape(windows, -1, 2).mean(1).T
    return np.stack([loss, np.sqrt(size)])


def norms() -> None:
    """Record the norms of the language model on held-out text, once untrained and once trained.

    Each of the two recordings is written to a file as a digest.
    """
    shape, weights = from_file((FOLDER / "language.safetensors").read_bytes())
    text = texts("language")[0][: RECORDED_WINDOWS * shape.window]
    tokens = shape.tokens(text).reshape(-1, shape.window)
    start = {name: w.astype(np.float64) for name, w in initial(shape, 0).items()}
    for name, each, called in (("trained", weights, "trained"), ("start", start, "before training")):
        found = seen(shape, each, tokens, name=f"a small GPT, {called}", vectors=RECORDED_VECTORS)
        (FOLDER / f"norms_{name}.safetensors").write_bytes(recording.to_file(recording.digest(found)))


def seen(
    shape: Shape,
    weights: Mapping[str, np.ndarray],
    tokens: Int[np.ndarray, "windows n"],
    *,
    name: str,
    vectors: int,
) -> Recording:
    """Record the inputs of the language model's LayerNorms at `vectors` random token positions.

    The positions are the same for all LayerNorms. `name` is the name of the recording. A LayerNorm before
    attention is left out if it only centres (`shape.scaled` is False).
    """
    reading = forward(shape, weights, tokens)
    inputs: dict[str, np.ndarray] = {}
    for k, block in enumerate(reading.blocks):
        inputs |= {f"h.{k}.ln_1": block.stream} if shape.scaled else {}
        inputs |= {f"h.{k}.ln_2": block.stream + block.branch, "ln_f": block.out}
    inputs["ln_f"] = inputs.pop("ln_f")  # move it to the end; its input is the last block's output
    count = tokens.size
    number = np.sort(np.random.default_rng(0).permutation(count)[:vectors])
    about = {"position": number % tokens.shape[-1], "token": tokens.reshape(-1)[number], "number": number}
    norms = []
    for path, x in inputs.items():
        given = {"gamma": weights[f"{path}.weight"], "beta": weights[f"{path}.bias"]}
        given |= {"x": x.reshape(count, -1)[number]}
        parts: Any = {part: each.astype(np.float32) for part, each in given.items()}
        norms.append(
            Norm(path, "layer_norm", EPS, 1, count, **parts, **about, folds="yes", why=FOLDING_REASON)
        )
    return Recording(norms, name, dict(enumerate(shape.characters)))
