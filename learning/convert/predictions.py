"""The effect of centring on the predictions of a Hugging Face model, for the layers of a recording.

Needs transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import transformers

from learning.convert.effect import ALL_NORMS, Effect, effects, recognised
from learning.convert.load import load as strict
from learning.convert.samples import NEXT_TOKEN_MODELS
from learning.recording.analysis import TableRow, gains
from learning.recording.messages import bar
from learning.recording.pretrained import NoModel, loaded, windows
from learning.recording.recording import NORM_KINDS, Norm

GAIN_TOLERANCE = 0.01  # relative, for the mean of |γ|; weights may be stored in bfloat16


def predictions(
    name: str, text: str, rows: Sequence[TableRow], *, tokens: int, by_line: bool, tell: Callable[[str], None]
) -> dict[str, Effect]:
    """Load a model with its prediction head, and measure the effect of centring in each normalisation layer.

    Returns an `Effect` for the path of each row, and one for all layers at once (ALL_NORMS). It is the effect
    of toggling: a layer that centres stops centring, and any other layer starts to centre.

    name      a Hugging Face name, a folder or a GGUF file
    text      the text that the model reads, up to `tokens` tokens
    rows      the report of a recording, with a row for each layer. If the model was recorded without its
              head, the paths in the rows lack a prefix, which is added here
    by_line   whether each line is a separate example
    tell      called with lines that report progress

    Raises NoModel if the model cannot be loaded, or is not the recorded one: if it lacks a recorded layer,
    or if one of its layers has another kind, size or mean of |γ| than recorded.
    """
    tokenizer, model = loaded(name, predicts=True, strict=strict)
    modules = dict(model.named_modules())
    within = {row["path"]: f"{model.base_model_prefix}.{row['path']}" for row in rows}
    places = {path: path if path.partition("#")[0] in modules else own for path, own in within.items()}
    if missing := [path for path, own in places.items() if own.partition("#")[0] not in modules]:
        raise NoModel(f"{name} is not the recorded model: it has no norm {missing[0]}")
    here = recognised(model, list(places.values()))
    for row in rows:
        if difference := _difference(row, here[places[row["path"]]].norm):
            raise NoModel(f"{name} is not the recorded model: {difference}")
    examples = windows(tokenizer, model, text, tokens=tokens, by_line=by_line)
    total = len(examples) * (len(places) + 2)
    batches = (_scored(model, tokenizer, example) for example in examples)

    def counted(done: int) -> None:
        tell(f"measured {bar(done / total)} {done} of {total} passes")

    found = effects(model, batches, list(places.values()), counted)
    return {path: found[own] for path, own in places.items()} | {ALL_NORMS: found[ALL_NORMS]}


def _difference(row: TableRow, here: Norm) -> str:
    """A text that says how the norm `here` differs from the recorded norm in `row`; "" if it does not.

    The number of coordinates, the kind and the mean of |γ| are compared; the text names the first difference.
    """
    path, kind = row["path"], NORM_KINDS[here.kind]
    if row["d"] != here.d:
        return f"{path} acts on {here.d} coordinates, recorded were {row['d']}"
    if row["kind"] != kind:
        return f"{path} is {_an(kind)}, recorded was {_an(row['kind'])}"
    mean = gains(here)["gain"]
    if row["gain"] is not None and abs(row["gain"] - mean) > GAIN_TOLERANCE * abs(mean):
        return f"γ of {path} is another: the mean of |γ| is {mean:.4g}, recorded was {row['gain']:.4g}"
    return ""


def _an(kind: str) -> str:
    return f"an {kind}" if kind == NORM_KINDS["rms_norm"] else f"a {kind}"


def _scored(model: Any, tokenizer: Any, example: list[int]) -> dict[str, Any]:
    """A batch of one example; with labels if the model predicts tokens, so that the model returns its loss.

    A masked language model must predict 15 % of the tokens: for the same example, always the same ones.
    """
    kind, ids = type(model).__name__, torch.tensor([example])
    if kind.endswith("ForMaskedLM") and tokenizer.mask_token is not None:
        collate = transformers.DataCollatorForLanguageModeling(tokenizer, seed=0)
        return dict(collate([{"input_ids": example}]))
    if kind.endswith(NEXT_TOKEN_MODELS):
        return {"input_ids": ids, "labels": ids}
    return {"input_ids": ids} | ({"decoder_input_ids": ids} if model.config.is_encoder_decoder else {})
