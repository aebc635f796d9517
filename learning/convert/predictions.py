"""The effect of centring on the predictions of a Hugging Face model, for the layers of a recording.

Needs transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import transformers

from learning.convert.effect import ALL_NORMS, Effect, effects
from learning.recording.pretrained import NoModel, loaded, windows
from learning.recording.recorder import bar


def predictions(
    name: str, text: str, paths: Sequence[str], *, tokens: int, by_line: bool, tell: Callable[[str], None]
) -> dict[str, Effect]:
    """Load a model with its prediction head, and measure the effect of centring in each normalisation layer.

    Returns an `Effect` for each path, and for all layers at once (ALL_NORMS). It is the effect of toggling:
    a layer that centres no longer does, and the other way round.

    text      the text that the model reads, up to `tokens` tokens
    paths     the paths of the layers in the model without its head, as in a recording; those that the model
              does not have are left out
    by_line   whether each line is a separate example
    tell      called with lines that report progress

    Raises NoModel if the model cannot be loaded, or has none of the layers.
    """
    tokenizer, model = loaded(name, predicts=True)
    modules = dict(model.named_modules())
    within = {path: f"{model.base_model_prefix}.{path}" for path in paths}
    places = {path: path if path.partition("#")[0] in modules else own for path, own in within.items()}
    places = {path: own for path, own in places.items() if own.partition("#")[0] in modules}
    if not places:
        raise NoModel(f"{name} has none of the norms of this recording")
    examples = windows(tokenizer, model, text, tokens=tokens, by_line=by_line)
    total = len(examples) * (len(places) + 2)
    batches = (_scored(model, tokenizer, example) for example in examples)

    def counted(done: int) -> None:
        tell(f"measured {bar(done / total)} {done} of {total} passes")

    found = effects(model, batches, list(places.values()), counted)
    return {path: found[own] for path, own in places.items()} | {ALL_NORMS: found[ALL_NORMS]}


def _scored(model: Any, tokenizer: Any, example: list[int]) -> dict[str, Any]:
    """A batch of one example, with labels, so that a language model returns its loss.

    For a masked language model 15 % of the tokens are masked, always the same ones.
    """
    kind, ids = type(model).__name__, torch.tensor([example])
    if kind.endswith("ForMaskedLM") and tokenizer.mask_token is not None:
        collate = transformers.DataCollatorForLanguageModeling(tokenizer, seed=0)
        return dict(collate([{"input_ids": example}]))
    if kind.endswith(("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")):
        return {"input_ids": ids, "labels": ids}
    return {"input_ids": ids} | ({"decoder_input_ids": ids} if model.config.is_encoder_decoder else {})
