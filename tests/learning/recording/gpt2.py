"""Write a folder with a small GPT-2, its tokenizer and a text, without the package transformers."""

import json
import re

import numpy as np

from learning.safetensors import to_safetensors

WORDS = "What do the norms of a model do, and could it go without the centring? " * 40
LONGEST, WIDE, LAYERS = 64, 32, 2
MATRICES = {"attn.c_attn": (WIDE, 3 * WIDE), "attn.c_proj": (WIDE, WIDE)}
MATRICES |= {"mlp.c_fc": (WIDE, 4 * WIDE), "mlp.c_proj": (4 * WIDE, WIDE)}


def save(path):
    """Save an untrained GPT-2, its tokenizer, and WORDS as text.txt, in the existing folder `path`."""
    words = ["?", *sorted({*re.findall(r"\w+|,", WORDS)})]
    known = {"type": "WordLevel", "vocab": {word: k for k, word in enumerate(words)}, "unk_token": "?"}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "model": known,
        "pre_tokenizer": {"type": "Whitespace"},
    }
    config = {"model_type": "gpt2", "vocab_size": LONGEST, "bos_token_id": 1, "eos_token_id": 2}
    config |= {"n_embd": WIDE, "n_layer": LAYERS, "n_head": 2, "n_positions": LONGEST}
    told = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "?"}
    files = {"tokenizer": tokenizer, "tokenizer_config": told, "config": config}
    for name, text in files.items():
        (path / f"{name}.json").write_text(json.dumps(text))
    (path / "model.safetensors").write_bytes(to_safetensors(weights(), {"format": "pt"}))
    (path / "text.txt").write_text(WORDS)


def weights():
    """The weights of a GPT-2 by name, as before training: random matrices, gains 1, shifts and biases 0."""
    lot = np.random.default_rng(0)
    drawn = lambda *shape: lot.normal(0, 0.02, shape).astype(np.float32)  # noqa: E731
    own = {"wte.weight": drawn(LONGEST, WIDE), "wpe.weight": drawn(LONGEST, WIDE)}
    norms = ["ln_f"]
    for k in range(LAYERS):
        norms += [f"h.{k}.ln_1", f"h.{k}.ln_2"]
        for name, shape in MATRICES.items():
            own |= {f"h.{k}.{name}.weight": drawn(*shape), f"h.{k}.{name}.bias": 0 * drawn(shape[1])}
    for name in norms:
        own |= {f"{name}.weight": np.ones(WIDE, np.float32), f"{name}.bias": np.zeros(WIDE, np.float32)}
    return {f"transformer.{name}": each for name, each in own.items()}
