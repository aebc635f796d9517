"""A model of Hugging Face's `transformers`, by name or from a folder, read over a text. Needs PyTorch and
transformers. Weights are read as safetensors alone, and code that comes with a model never runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import huggingface_hub
import torch
import transformers

from learning.recording.recorder import Recorder, bar, record
from learning.recording.recording import WORD, Recording

WINDOW_TOKENS = 512  # tokens that are read at a time, where the model can
MAX_TOKENS = 16_384  # that are read of a text
PROBE_TOKENS = 4  # tokens that show what is added up before each norm
MEMORY_FACTOR = 1.2  # of the weights: what a model takes beside them


class NoModel(ValueError):
    """Raised for a model that cannot be loaded or run here; the message says why."""


def recorded(
    name: str, text: str, *, vectors: int, seed: int, tokens: int = MAX_TOKENS, tell: Callable[[str], None]
) -> Recording:
    """What the norms of a model see while it reads the first tokens of a text. tell: as in `record`.

    Raises NoModel.
    """
    transformers.logging.set_verbosity_error()
    huggingface_hub.utils.logging.set_verbosity_error()
    huggingface_hub.utils.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
    tokenizer, model = _loaded(name)
    ids = tokenizer(text, truncation=True, max_length=tokens, verbose=False)["input_ids"]
    if not ids:
        raise NoModel("this text has no tokens")
    window = min(WINDOW_TOKENS, getattr(model.config, "max_position_embeddings", None) or WINDOW_TOKENS)
    pieces = [ids[k : k + window] for k in range(0, len(ids), window)]
    with record(model, vectors=vectors, seed=seed, tell=_counted(tell, len(pieces))) as seen:
        with seen.looking():
            _read(model, torch.tensor([ids[:PROBE_TOKENS]]))
        with torch.no_grad():
            for piece in pieces:
                _read(model, torch.tensor([piece]))
    seen.name = name.rstrip("/").rpartition("/")[2]
    seen.words = _words(seen, tokenizer)
    return seen.recording


def _loaded(name: str) -> tuple[Any, Any]:
    """The tokenizer and the model, after a check that the model fits into memory."""
    try:
        config = transformers.AutoConfig.from_pretrained(name)
        with torch.device("meta"):
            outline = transformers.AutoModel.from_config(config)
        wanted = MEMORY_FACTOR * sum(each.numel() * each.element_size() for each in outline.parameters())
        free = _free()
        if wanted > free:
            raise NoModel(f"{name} takes some {wanted / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free")
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        return tokenizer, transformers.AutoModel.from_pretrained(name, use_safetensors=True).eval()
    except (OSError, ValueError, ImportError, KeyError) as problem:
        if isinstance(problem, NoModel):
            raise
        first = " ".join(str(problem).split())[:300]
        raise NoModel(f"{name} cannot be loaded: {first}") from None


def _free() -> float:
    """Bytes of free memory; unlimited where the system does not report it."""
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def _read(model: Any, ids: Any) -> None:
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = ids
    try:
        model(**given)
    except Exception as problem:  # anybody's model, and anybody's tokens
        raise NoModel(f"the model cannot read this text: {' '.join(str(problem).split())[:200]}") from None


def _counted(tell: Callable[[str], None], total: int) -> Callable[[str], None]:
    """Lines as `record` tells them, with a bar for how much of the text was read."""
    done = -1

    def counted(line: str) -> None:
        nonlocal done
        done += 1
        if not done:
            return tell(line)
        return tell(f"recorded {bar(done / total)} {done} of {total}")

    return counted


def _words(seen: Recorder, tokenizer: Any) -> dict[int, str]:
    kept = {int(token) for norm in seen.recording.norms for token in norm.token if token >= 0}
    return {token: tokenizer.decode([token])[:WORD] for token in sorted(kept)}
