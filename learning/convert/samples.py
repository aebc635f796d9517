"""Inputs on which two models are compared: windows of a text, random images, or random sound."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from learning.convert.checkpoint import Checkpoint, NotConverted, one_line_errors
from learning.convert.effect import NO_TARGET
from learning.file_error import readable
from learning.recording.pretrained import longest_input

DEFAULT_TEXT = Path(__file__).with_name("sample.txt")
MAX_WINDOW_TOKENS, MAX_WINDOWS = 256, 2
PROBE_TOKENS = 16  # length of the text with which a model is traced; a certificate reads at least as much
MEDIA = {"pixel_values": "image", "input_features": "sound"}  # names of arguments, and what they are
IMAGE_SIZE = 224  # pixels, for a model of images whose configuration has no size
IMAGE_COUNT = 4  # number of random images for a model that reads no text
# ends of the names of classes that predict each next token
NEXT_TOKEN_MODELS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
MASKED_EVERY = 7  # for a masked language model, every 7th token is masked


@dataclass(frozen=True)
class Sample:
    """A test input of a model: the arguments of one forward call, and the target tokens for its loss.

    inputs    the arguments by name
    targets   the token to predict at each position; NO_TARGET at positions without a prediction. None for a
              model that predicts no tokens
    labels    the same tokens in the form of the model's own argument `labels`, with which the model computes
              its loss; None for a model that predicts no tokens
    """

    inputs: dict[str, Any]
    targets: Any = None
    labels: Any = None

    @property
    def tokens(self) -> int:
        """The number of text tokens; 0 for a model that reads no text."""
        ids = self.inputs.get("input_ids", self.inputs.get("decoder_input_ids"))
        return 0 if ids is None else int(ids.numel())

    def beginning(self) -> dict[str, Any]:
        """The inputs with a shorter text: only its first PROBE_TOKENS tokens."""
        ids = ("input_ids", "decoder_input_ids", "attention_mask")
        return {name: each[:, :PROBE_TOKENS] if name in ids else each for name, each in self.inputs.items()}

    @property
    def batch(self) -> dict[str, Any]:
        return self.inputs | ({} if self.labels is None else {"labels": self.labels})


def samples(source: Checkpoint, text: str | None = None, inputs: Path | None = None) -> list[Sample]:
    """Make samples for a model: the first windows of the text, with images or sound if the model takes them.

    text: by default, the text in the file DEFAULT_TEXT; at most MAX_WINDOWS windows of it are used. inputs: a
    safetensors file with the images or sound, by argument name (one of `MEDIA`). Without this file, images
    and sound are random, with a fixed seed.

    Raises NotConverted if the model takes neither text nor images, if `text` is given but the model reads
    none, if the text is the path of a file, if the text has fewer tokens than PROBE_TOKENS and than the
    model's window, and if `inputs` does not fit the model. Raises TypeError if `text` is not a string.
    """
    if not (text is None or isinstance(text, str)):
        raise TypeError(
            f"the text must be a string, not a {type(text).__name__}; for a file, pass what it contains"
        )
    if text is not None and os.path.isfile(text):
        raise NotConverted(
            f"the text is the path of a file: pass what it contains, Path({text!r}).read_text()"
        )
    names = inspect.signature(source.architecture.forward).parameters
    given: dict[str, Any] = {}
    lot = torch.Generator().manual_seed(0)
    config = getattr(source.config, "vision_config", source.config)
    if "pixel_values" in names:
        size = getattr(config, "image_size", IMAGE_SIZE)
        height, width = size if isinstance(size, (list, tuple)) else (size, size)
        count = 1 if "input_ids" in names else IMAGE_COUNT
        given["pixel_values"] = torch.randn(count, config.num_channels, height, width, generator=lot)
    if "input_features" in names:
        frames = 2 * source.config.max_source_positions
        given["input_features"] = torch.randn(1, source.config.num_mel_bins, frames, generator=lot)
    given |= _read(source, inputs, given)
    if "use_cache" in names:
        given["use_cache"] = False
    if not {"input_ids", "decoder_input_ids"} & set(names):
        if "pixel_values" not in given:
            raise NotConverted(f"{source.name} reads neither text nor images")
        if text is not None:
            raise NotConverted(f"{source.name} reads no text: leave the text out")
        return [Sample(given)]
    tokenizer = source.tokenizer()
    whole = DEFAULT_TEXT.read_text("utf-8") if text is None else text
    texts = _windows(source, tokenizer, whole)[:MAX_WINDOWS]
    return [_sample(source, tokenizer, names, given, torch.tensor([ids])) for ids in texts]


def _read(source: Checkpoint, path: Path | None, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """The images or sound in the file `path`, by argument name; {} without a file.

    They replace the random ones in `drawn`. NotConverted is raised for a name that `drawn` does not have, and
    for a tensor whose shape differs from the one in `drawn`, except in the first axis.
    """
    if path is None:
        return {}
    with one_line_errors(f"{path} cannot be read as safetensors"):
        found: dict[str, Any] = load_file(readable(path))
    for name, tensor in found.items():
        if name not in drawn:
            takes = ", ".join(drawn) or "text alone"
            raise NotConverted(f"{path} has {name!r}, and {source.name} takes {takes}")
        if tensor.shape[1:] != drawn[name].shape[1:]:
            raise NotConverted(f"{name} has the shape {list(tensor.shape)}, not {list(drawn[name].shape)}")
    return found


def _windows(source: Checkpoint, tokenizer: Any, text: str) -> list[list[int]]:
    window = max(longest_input(source.outline(torch.float32), tokenizer, MAX_WINDOW_TOKENS), 2)
    read = tokenizer(text, truncation=True, max_length=window, return_overflowing_tokens=True, verbose=False)
    found = read["input_ids"]
    found = [found] if found and isinstance(found[0], int) else found  # slow tokenizers return one window
    count, needed = sum(map(len, found)), min(PROBE_TOKENS, window)
    if count < needed:
        raise NotConverted(f"the text has {count} tokens, too few to compare models: give {needed} or more")
    return [ids for ids in found if len(ids) > 1]


def _sample(source: Checkpoint, tokenizer: Any, names: Any, given: dict[str, Any], ids: Any) -> Sample:
    kind, targets, labels = source.architecture.__name__, None, None
    if kind.endswith(NEXT_TOKEN_MODELS):
        targets = torch.cat([ids[:, 1:], torch.full_like(ids[:, :1], NO_TARGET)], 1)
        labels = targets if source.config.is_encoder_decoder else ids
    elif kind.endswith("ForMaskedLM") and tokenizer.mask_token_id is not None:
        hidden = torch.arange(ids.shape[1]) % MASKED_EVERY == MASKED_EVERY // 2
        labels = targets = torch.where(hidden, ids, NO_TARGET)
        ids = torch.where(hidden, tokenizer.mask_token_id, ids)
    read = {name: ids for name in ("input_ids", "decoder_input_ids") if name in names}
    if "attention_mask" in names and "input_ids" in names:
        read["attention_mask"] = torch.ones_like(ids)
    return Sample(given | read, targets, labels)
