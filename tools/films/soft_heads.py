"""Train language models with overlapping (soft) heads, or with other norms, for the scene `heads`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from geometry import layer_norm, rms_norm
from geometry.windows import windows
from learning.language import EPS, Shape, forward, initial, layer_norm_of, losses
from tools.films.language_training import causal, learned
from tools.films.store import texts, write_model, write_table

SOFT_WINDOWS = (  # shape of the heads' windows, and their overlap
    ("box", 0.0),
    ("box", 1.0),
    ("triangle", 0.5),
    ("triangle", 1.0),
    ("sine", 1.0),
)
# norms before attention, named as in `surface_of`
SURFACES = ("layer_norm", "rms_norm", "layer_norm_ball", "rms_norm_ball")
SHIPPED_WINDOWS = (("box", 0.0), ("triangle", 1.0))  # settings whose model of the first seed is shipped
MODELS_PER_KIND, TRAINING_STEPS = 4, 1200
HELD_OUT_CHARACTERS, SHORT_TEXT_CHARACTERS = 6144, 4096  # the short text is learned by heart
NOISE_SIZE, NOISE_DRAWS = 0.5, 8  # noise on attention's input, in root mean squares of the input


def soft_heads() -> None:
    """Write the table "soft_heads": language models with overlapping heads, or other norms before attention.

    The table has three kinds of rows for every seed. These columns tell them apart:

    window, overlap   a model whose heads see windows of axes with this shape and overlap; overlap 0, the
                      ordinary separate heads, is the baseline
    surface           a model with this norm before attention (see `surface_of`), trained on a short text,
                      which it learns by heart, so that regularisation matters
    trained, layer    a layer of the baseline, before or after training: the numbers `said` and `most` of
                      the function `regions` for this layer

    Rows of the first two kinds have the numbers of `measured_losses`. For the first seed, the models with
    SHIPPED_WINDOWS are written to films/.
    """
    text, held = soft_texts()
    short = text[:SHORT_TEXT_CHARACTERS]
    shape = Shape("".join(sorted(set(text + held))), width=16, layers=2, window=64, heads=4)
    rows: list[dict[str, Any]] = []
    for seed in range(MODELS_PER_KIND):
        for window, overlap in SOFT_WINDOWS:
            shares = soft_shares(shape, window, overlap)
            weights = learned(shape, text, seed=seed, steps=TRAINING_STEPS, rate=0.02, shares=shares)
            row = {"seed": seed, "window": window, "overlap": overlap}
            rows.append(row | measured_losses(shape, weights, text, held, shares=shares))
            if seed == 0 and (window, overlap) in SHIPPED_WINDOWS:
                write_model(f"heads_{window}", shape, weights, "a GPT of Normscape", TRAINING_STEPS)
            if not overlap:
                for taught, own in ((True, weights), (False, initial(shape, seed))):
                    rows += [{"seed": seed, "trained": taught} | each for each in regions(shape, own, held)]
        for surface in SURFACES:
            norm = surface_of(surface)
            weights = learned(shape, short, seed=seed, steps=TRAINING_STEPS, rate=0.02, norm=norm)
            row = {"seed": seed, "surface": surface}
            rows.append(row | measured_losses(shape, weights, short, held, surface=surface))
        print(f"  soft heads: seed {seed}", flush=True)
        write_table("soft_heads", rows)


def soft_texts() -> tuple[str, str]:
    """The training text and the held-out text.

    These are the two texts of `tools.films.heads`, but the last HELD_OUT_CHARACTERS of the training text are
    moved to the beginning of the held-out text.
    """
    text, held = texts("heads_learned", "heads")
    return text[:-HELD_OUT_CHARACTERS], text[-HELD_OUT_CHARACTERS:] + held


def soft_shares(shape: Shape, window: str, overlap: float) -> torch.Tensor | None:
    """For each head, how much of each axis it sees, from 0 to 1: (heads, d).

    window, overlap: the shape and overlap of the heads' windows, a pair of SOFT_WINDOWS. Returns None for
    overlap 0, where the heads are separate: each sees its own block of axes.
    """
    if not overlap:
        return None
    at = np.arange(1, shape.width + 1)
    found = windows(at, shape.width, shape.heads, overlap, shape=window)
    return torch.from_numpy(found.astype(np.float32))


def surface_of(name: str, noise: Callable[[torch.Tensor], torch.Tensor] | None = None) -> Callable[..., Any]:
    """A function `norm` for `learning.language.forward`: another norm before attention, LayerNorm elsewhere.

    name: one of SURFACES. "layer_norm…" centres, "rms_norm…" does not. Both map vectors onto a sphere before
    gain and shift; but with "…_ball" ε is 1, so the vectors fill a ball and still differ in length. noise: a
    function that is applied to the output of the norm before attention.
    """
    eps = 1.0 if name.endswith("_ball") else EPS

    def norm(own: Mapping[str, torch.Tensor], at: str, x: torch.Tensor, *, scaled: bool = True) -> Any:
        if at != "ln_1":
            return layer_norm_of(own, at, x, scaled=scaled)
        gamma, beta = own["ln_1.weight"], own["ln_1.bias"]
        centred = name.startswith("layer_norm")
        unit = layer_norm(x, eps=eps) if centred else rms_norm(x, eps=eps)
        found = gamma * unit + beta
        return noise(found) if noise else found

    return norm


def measured_losses(
    shape: Shape,
    weights: Mapping[str, np.ndarray],
    text: str,
    held: str,
    *,
    surface: str = "layer_norm",
    shares: torch.Tensor | None = None,
) -> dict[str, float]:
    """Measure a model's mean loss, in nats per character, and how much noise increases it.

    Returns `learned`, the loss on the training text `text`; `held`, the loss on the held-out text `held`; and
    `noise`, by how much noise on attention's input increases `held`, averaged over NOISE_DRAWS draws.
    surface: the norm before attention, one of SURFACES. shares: for each head, how much of each axis it sees
    (see `soft_shares`); None for separate heads.
    """
    tensors = {name: torch.from_numpy(w) for name, w in weights.items()}
    lot = torch.Generator().manual_seed(0)

    def trembling(x: torch.Tensor) -> torch.Tensor:
        return x + NOISE_SIZE * (x**2).mean().sqrt() * torch.randn(x.shape, generator=lot)

    def loss(read: str, noise: Callable[[torch.Tensor], torch.Tensor] | None = None) -> float:
        tokens = in_windows(shape, read)
        reading = forward(
            shape, tensors, tokens, attend=causal, norm=surface_of(surface, noise), shares=shares
        )
        return float(losses(reading.logits, tokens).mean())

    found = {"learned": loss(text), "held": loss(held)}
    found["noise"] = float(np.mean([loss(held, trembling) for _ in range(NOISE_DRAWS)])) - found["held"]
    return {name: round(value, 5) for name, value in found.items()}


def in_windows(shape: Shape, text: str) -> torch.Tensor:
    """The tokens of a text in consecutive windows, (count, window); an incomplete last window is left out."""
    count = len(text) // shape.window
    return torch.from_numpy(shape.tokens(text[: count * shape.window])).reshape(count, shape.window)


def regions(shape: Shape, weights: Mapping[str, np.ndarray], text: str) -> Iterator[dict[str, Any]]:
    """Measure how well a token's normalised vector predicts which head has the longest output for the token.

    Yields a row for each layer. `said` is the accuracy of an affine map from the vector to the head, fitted
    by least squares on every other window of `text`, and tested on the remaining windows. `most` is the
    baseline: the accuracy of always predicting the head that is most frequent in the remaining windows.
    """
    tensors, d = {name: torch.from_numpy(w) for name, w in weights.items()}, shape.width // shape.heads
    tokens = in_windows(shape, text)
    for k, block in enumerate(forward(shape, tensors, tokens, attend=causal).blocks):
        out = tensors[f"h.{k}.attn.c_proj.weight"].reshape(shape.heads, d, shape.width)
        sizes = torch.linalg.vector_norm(block.weights @ block.v @ out, dim=-1)
        loudest = torch.argmax(sizes, dim=1)
        place = torch.cat([block.keys, torch.ones_like(block.keys[..., :1])], -1)
        wanted = torch.nn.functional.one_hot(loudest, shape.heads).to(place.dtype)
        fit = torch.linalg.lstsq(place[::2].flatten(0, 1), wanted[::2].flatten(0, 1)).solution
        rest = loudest[1::2]
        said = torch.argmax(place[1::2] @ fit, dim=-1) == rest
        most = torch.bincount(rest.flatten(), minlength=shape.heads).max() / rest.numel()
        yield {"layer": k, "said": round(float(said.double().mean()), 4), "most": round(float(most), 4)}
