"""Convert a checkpoint: fold its normalisation layers, write the result, and certify it."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from learning.convert import certificate_text, drafted
from learning.convert import load as strict_load
from learning.convert.certificate import Certificate
from learning.convert.certificate import certify as compared
from learning.convert.checkpoint import Checkpoint, Load, NotConverted, one_line_errors, replacing, write
from learning.convert.cost import check_patterns, costs
from learning.convert.plan import Plan
from learning.convert.samples import DEFAULT_TEXT, MEDIA, Sample, samples
from learning.recording.known import Known, NotKnown, as_float64, known

POST_LN_REASON = "the residual is the output of"  # how the planner's reason begins in a post-LN model


def convert(
    model: str | Path,
    out: str | Path,
    *,
    text: str | None = None,
    inputs: Path | None = None,
    strict: bool = False,
    partly: bool = False,
    norms: Sequence[str] = (),
) -> Certificate:
    """Fold a checkpoint's normalisation layers into neighbouring layers, certify the result, and write it.

    A gain γ and a shift β are folded into the layers that read the output of the normalisation layer. Its
    centring is folded into the layers that compute its input, which then has mean 0. Each of these two folds
    is made only if it leaves the model's outputs unchanged. The certificate compares the outputs of the two
    models; the folder is written only if they differ by no more than rounding (docs/convert.md).

    Parameters
    ----------
    model : str or Path
        A name on the Hugging Face hub, a folder, or a GGUF file.
    out : str or Path
        The folder to write; it must not exist.
    text : str, optional
        The text that both models read for the certificate; by default a short text that comes with Normscape.
    inputs : Path, optional
        A safetensors file with the images or sound that both models read, by argument name, such as
        `pixel_values`; by default these are random.
    strict : bool
        Replace each LayerNorm whose centring was folded by `torch.nn.RMSNorm`. The file `load.py` in the
        folder loads such a model.
    partly : bool
        Write the model even if half of its normalisation layers or more cannot be folded.
    norms : sequence of str
        Patterns of names of normalisation layers, such as "*.h.1.*"; by default all layers. Where the
        centring of such a layer cannot be folded, the certificate says how the outputs change without it.

    Returns
    -------
    Certificate
        The certificate, which has passed. It is also in the folder: `certificate.json`, `certificate.txt`.

    Raises
    ------
    NotConverted
        If the model cannot be read, traced or folded, the folder exists or cannot be written, the text or the
        inputs do not fit the model, or a pattern matches no layer. `Refused`, a subclass, if the certificate
        is refused.
    TypeError
        If `model` is not a name or a path, or `text` is not a string.

    Examples
    --------
    >>> from transformers import ViTConfig, ViTModel
    >>> sizes = {"hidden_size": 8, "intermediate_size": 8, "image_size": 8, "patch_size": 4}
    >>> ViTModel(ViTConfig(num_hidden_layers=1, num_attention_heads=1, **sizes)).save_pretrained("vit")
    >>> convert("vit", "vit-folded").passed
    True
    """
    patterns = [norms] if isinstance(norms, str) else norms
    name = _name(model)
    with replacing(Path(out)) as folder:
        source = Checkpoint(name)
        read = samples(source, text, inputs)
        whole = source.model()
        with one_line_errors(f"{source.name} cannot be analysed"):
            plan = drafted(whole, (), read[0].beginning()).plan()  # the certificate confirms it
        check_worth(source.name, plan, partly)
        check_patterns(patterns, [each.name for each in plan.norms])
        replaced, shifted = _rms_norms(whole, plan) if strict else ({}, set[str]())
        exact = _exact(plan, source, shifted)
        new = write_folded(source, plan, folder, exact, replaced)
        new.name = Path(out).name
        centring = {
            each.name: each.centring.verdict == "yes" for each in plan.norms if each.kind == "LayerNorm"
        }
        left = [name for name, folds in centring.items() if not folds]
        centred = [name for name, folds in centring.items() if folds]
        about = _about(text, inputs, read)
        made = compared(source, new, read, about=about, exact=exact, centred=centred)
        made.norms = [asdict(each) for each in plan.norms]
        with one_line_errors(f"{source.name} cannot be run"):
            made.cost = costs(whole, left, read, patterns)
        if made.passed:
            certificate_text.save(made, folder)
            return made
        raise Refused(made)


def certify(
    original: str | Path, converted: str | Path, *, text: str | None = None, inputs: Path | None = None
) -> Certificate:
    """Certify whether two checkpoints, however they were made, are the same model up to rounding.

    In float64, float32 and bfloat16, the difference of their outputs is compared with the difference that
    rounding alone causes.

    Parameters
    ----------
    original, converted : str or Path
        Names on the Hugging Face hub, folders, or GGUF files.
    text : str, optional
        The text that both models read; by default a short text that comes with Normscape.
    inputs : Path, optional
        The images or sound that both models read, as for `convert`.

    Returns
    -------
    Certificate
        The result: `passed` says whether the models agree up to rounding, `reason` why or why not.

    Raises
    ------
    NotConverted
        If one of the models cannot be read or run, the outputs differ in shape, or the text or the inputs do
        not fit the first model.
    TypeError
        If a model is not a name or a path, or `text` is not a string.

    Examples
    --------
    >>> from transformers import ViTConfig, ViTModel
    >>> sizes = {"hidden_size": 8, "intermediate_size": 8, "image_size": 8, "patch_size": 4}
    >>> for name in ("one", "other"):
    ...     config = ViTConfig(num_hidden_layers=1, num_attention_heads=1, **sizes)
    ...     ViTModel(config).save_pretrained(name)
    >>> certify("one", "one").passed, certify("one", "other").passed
    (True, False)
    """
    names = _name(original), _name(converted)
    one, other = map(Checkpoint, names)
    read = samples(one, text, inputs)
    return compared(one, other, read, about=_about(text, inputs, read))


class Refused(NotConverted):
    """Raised if the certificate of a converted model is refused; then nothing was written."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__(f"nothing was written, for the certificate is refused: {certificate.reason}")
        self.certificate = certificate


def check_worth(name: str, plan: Plan, partly: bool) -> None:
    """Raise NotConverted if too few of the model's normalisation layers can be folded.

    If `partly` is True, one layer is enough; otherwise more than half must be foldable. A layer is foldable
    if its centring, or its γ and β, can be folded. name: the model's name in the message.
    """
    left = [each for each in plan.norms if "yes" not in (each.centring.verdict, each.affine.verdict)]
    count = len(plan.norms)
    if count > len(left) and (partly or 2 * len(left) < count):
        return
    if not count:
        raise NotConverted(f"nothing was written: {name} has no norms")
    post = next((each for each in left if each.centring.reason.startswith(POST_LN_REASON)), None)
    kind, first = ("is post-LN:", post) if post else ("stays as it is:", left[0])
    reason = first.affine.reason if first.kind == "RMSNorm" else first.centring.reason
    advice = "; --partly folds the others" if count > len(left) else ""
    raise NotConverted(
        f"nothing was written: {name} {kind} {len(left)} of {count} norms cannot be folded"
        f" ({first.name}: {reason}){advice}"
    )


def write_folded(
    source: Checkpoint, plan: Plan, folder: Path, exact: Load, replaced: Mapping[str, Mapping[str, Any]]
) -> Checkpoint:
    """Write the folded model to `folder`, and return it as a `Checkpoint`.

    exact: returns the new value of a tensor by name, before it is rounded to its dtype.
    replaced: the LayerNorms that become RMSNorms, in the format that `load.py` reads from config.json.
    """
    added = {name: like for name, like in source.ties.items() if name in plan.untied}
    config: dict[str, Any] = {}
    if plan.untied and _can_untie(source.config):
        added, config["tie_word_embeddings"] = dict(source.ties), False  # it unties all tensors at once
    dropped = {f"{name}.weight" for name, norm in replaced.items() if not norm["gain"]}
    dropped |= {f"{name}.bias" for name, norm in replaced.items() if not norm["shift"]}
    if replaced:
        config["rms_norms"] = replaced
        shutil.copy(strict_load.__file__, folder)
    write(source, folder, exact, added=added, dropped=frozenset(dropped), config=config)
    return Checkpoint(str(folder))


def _can_untie(config: Any) -> bool:
    """Whether a model's configuration can turn weight tying off (`tie_word_embeddings`).

    The configuration of T5 cannot. Weights can be untied without it, too: `from_pretrained` does not tie a
    tensor that the file stores with values of its own.
    """
    entries = config.to_dict() | {"tie_word_embeddings": False}
    return not type(config).from_dict(entries).tie_word_embeddings


def _exact(plan: Plan, source: Checkpoint, shifted: Collection[str]) -> Load:
    """A function that returns the new value of a tensor by name, before it is rounded to its dtype.

    shifted: the names of gains for which the original stores γ − 1, while the new model stores γ.
    """

    def load(name: str) -> Any:
        found = plan.tensor(name, source.load)
        return found.double() + 1 if name in shifted else found

    return load


def _rms_norms(model: Any, plan: Plan) -> tuple[dict[str, dict[str, Any]], set[str]]:
    """The LayerNorms that become RMSNorms because their centring can be folded: a dict, and a set of names.

    The dict maps the name of each of these LayerNorms to the fields that `load.py` reads: the size, ε, and
    whether a gain γ and a shift β are left after folding. The set has the names of the gains that are left
    and that the model stores as γ − 1.
    """
    found, shifted = {}, set[str]()
    for each in plan.norms:
        module = model.get_submodule(each.name)
        if each.kind != "LayerNorm" or each.centring.verdict != "yes":
            continue
        try:
            norm = known(each.name, module, next(model.parameters()))
        except NotKnown:
            continue
        if norm is None or norm.norm.kind == "rms_norm" or norm.channels_first or not _last_axis(norm):
            continue
        own = {part: getattr(module, part, None) is not None for part in ("weight", "bias")}
        kept = each.affine.verdict != "yes"
        found[each.name] = {
            "size": list(norm.axes),
            "eps": norm.norm.eps,
            "gain": own["weight"] and kept,
            "shift": own["bias"] and kept,
        }
        if found[each.name]["gain"] and not np.array_equal(
            norm.norm.gamma, as_float64(module.weight).ravel()
        ):
            shifted.add(f"{each.name}.weight")
    return found, shifted


def _last_axis(norm: Known) -> bool:
    """Whether a LayerNorm normalises over the last axis of its input only.

    γ may have the shape (heads, d), if the vectors of each attention head are normalised separately.
    """
    return norm.norm.groups == prod(norm.axes[:-1])


def _name(model: Any) -> str:
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    raise TypeError(
        f"this {type(model).__name__} is neither the name of a model nor a path: save the model with"
        " model.save_pretrained(folder) and its tokenizer with tokenizer.save_pretrained(folder),"
        " and pass the folder"
    )


def _about(text: str | None, inputs: Path | None, read: Sequence[Sample]) -> dict[str, Any]:
    about: dict[str, Any] = {}
    if tokens := sum(each.tokens for each in read):
        whole = DEFAULT_TEXT.read_text("utf-8") if text is None else text
        digest = hashlib.sha256(whole.encode()).hexdigest()
        about = {"text": "the default" if text is None else "the reader's", "sha256": digest}
        about |= {"tokens": tokens, "windows": len(read)}
    media = {name: len(each) for name, each in read[0].inputs.items() if name in MEDIA}
    if inputs is not None:
        inputs = Path(inputs)
        digest = hashlib.sha256(inputs.read_bytes()).hexdigest()
        about |= {"inputs": inputs.name, "inputs sha256": digest, "given inputs": media}
    elif media:
        about |= {"random inputs": media, "seed": 0}
    return about
