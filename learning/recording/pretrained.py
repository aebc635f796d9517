"""Record the norms of a Hugging Face model, given by name, folder or GGUF file, while it reads a text.

Needs PyTorch and transformers. Weights are read from safetensors or GGUF. A local folder without them may
have pickle files, of which only tensors are loaded. Code that comes with a model never runs.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import huggingface_hub
import torch
import transformers
from safetensors import SafetensorError, safe_open

from learning.file_error import one_line
from learning.memory import free_bytes
from learning.recording.messages import bar
from learning.recording.recorder import Contributions, Recorder, Verdicts
from learning.recording.recording import MAX_WORD_CHARACTERS, Recording

WINDOW_TOKENS = 512  # tokens read at a time; fewer if the model's context is shorter
MAX_TOKENS = 16_384  # tokens read of a text by default
TEXT_CHARACTERS_PER_TOKEN = 32  # before tokenising, the text is cut to this many characters per token
PROBE_TOKENS = 4  # length of a first pass, which estimates the file's size and tests folding
MEMORY_FACTOR = 1.2  # memory that loading a model takes, as a multiple of its weights
MIN_VOCABULARY = 2  # a T5 tokenizer without files has one token, the space
TEXT_ARGUMENT = "input_ids"  # the main argument of a model that reads text
GGUF = ".gguf"
# names of the files that a model and its tokenizer are loaded from; * stands for any characters
READ_FILES = [
    "config.json",
    "generation_config.json",
    "model*.safetensors",
    "*.index.json",
    "tokenizer*.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "*.model",
]
NO_CODE = {"trust_remote_code": False}  # else transformers asks in a terminal whether to run a model's code


ModelLoader = Callable[..., Any]  # loads the model in a folder


class NoModel(ValueError):
    """Raised for a model that cannot be loaded or run on this machine, with a message that says why."""


def recorded(
    name: str,
    text: str,
    *,
    vectors: int,
    seed: int,
    tokens: int = MAX_TOKENS,
    by_line: bool = False,
    title: str = "",
    head: bool = True,
    strict: ModelLoader | None = None,
    verdicts: Verdicts | None = None,
    contributions: Contributions | None = None,
    tell: Callable[[str], None],
) -> Recording:
    """Load a model and record the inputs of its normalisation layers while it reads the start of `text`.

    name              a Hugging Face name, a folder or a GGUF file
    vectors, seed     the number of input vectors to keep for each layer, and the seed of their random choice
    tokens            the largest number of tokens to read
    by_line           whether each line of the text is a separate input of the model
    title             the recording's name; if it is "", the model's name as `called` returns it
    head              whether to load the model with its prediction head; its norms then have the same names
                      as in `convert`
    strict            as in `loaded`: the function that loads a folder written by `convert --strict`
    verdicts, contributions, tell   as in `Recorder`

    Raises NoModel if the model cannot be loaded or cannot read the text.
    """
    tokenizer, model = loaded(name, predicts=head, strict=strict)
    examples = windows(tokenizer, model, text, tokens=tokens, by_line=by_line)
    counted = _counted(tell, len(examples))
    with Recorder(
        model, vectors=vectors, seed=seed, verdicts=verdicts, contributions=contributions, tell=counted
    ).listening() as seen:
        tell(how_much_is_read(tokenizer, text, examples, tokens, by_line=by_line))
        first = examples[0][:PROBE_TOKENS]
        with seen.counting(), torch.no_grad():
            _read(model, torch.tensor([first]))
        size = seen.size(sum(map(len, examples)) / len(first))
        tell(f"the vectors take {size / 1e6:,.1f} MB; fewer vectors take less")
        with torch.no_grad():
            for example in examples:
                _read(model, torch.tensor([example]), last=True)
    seen.name = title or called(name)
    seen.words, seen.special = _words(seen, tokenizer), frozenset(tokenizer.all_special_ids)
    return seen.recording


def called(name: str) -> str:
    """The display name of a model: the title in the README of the folder `name`, or the last part of `name`.

    If `name` is no folder, the ending .gguf is left out.
    """
    folder = Path(name)
    if not folder.is_dir():
        return folder.name.removesuffix(GGUF)
    try:
        lines = (folder / "README.md").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    titles = [line[1:].strip() for line in lines if line.startswith("# ")]
    return (titles or [folder.resolve().name])[0]


def loaded(name: str, *, predicts: bool = False, strict: ModelLoader | None = None) -> tuple[Any, Any]:
    """Load the tokenizer and the model called `name`, after checking that the model fits into memory.

    `name` is a Hugging Face name, a folder or a GGUF file. With `predicts`, the model gets a prediction head
    if there is one for it (see `_head`). `strict` is the function that loads a folder which
    `convert --strict` has written (`learning.convert.load`); with None, such a folder is loaded like others.
    Raises NoModel if the model cannot be loaded, does not fit into the free memory, or reads something else
    than text.
    """
    quiet()
    huggingface_hub.utils.disable_progress_bars()
    if missing := not_found(name):
        raise NoModel(missing)
    folder, _, file = name.rpartition("/") if name.endswith(GGUF) else (name, "", "")
    given: dict[str, Any] = {"gguf_file": file} if file else {}
    folder = folder or "."
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **NO_CODE, **given)
        kind = _head(config) if predicts else transformers.AutoModel
        with torch.device("meta"):
            outline = transformers.AutoModel.from_config(config, **NO_CODE)
        wanted = MEMORY_FACTOR * sum(each.numel() * each.element_size() for each in outline.parameters())
        if outline.main_input_name != TEXT_ARGUMENT:
            raise NoModel(
                f"{name} reads {outline.main_input_name}, and this command reads text: record it in Python, "
                "with normscape.record"
            )
        free = free_bytes()
        if wanted > free:
            raise NoModel(f"{name} takes some {wanted / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free")
        tokenizer = tokenizer_of(name, folder, **given)
        if not (file or Path(folder).is_dir()):
            given["use_safetensors"] = True
        if strict and getattr(config, "rms_norms", None):
            return tokenizer, strict(folder, **given).eval()
        return tokenizer, kind.from_pretrained(folder, **NO_CODE, **given).eval()
    except NoModel:
        raise
    except Exception as problem:  # third-party files and code
        raise NoModel(f"{not_loaded(name)}: {reason(problem, name)}") from None


def not_loaded(name: str) -> str:
    """The beginning of a message: the model `name`, a path or a Hugging Face name, cannot be loaded."""
    if os.path.exists(name):
        return f"{name} cannot be loaded"
    return f"there is no folder {name}, and loading a model of this name from Hugging Face failed"


def not_found(name: str) -> str:
    """The reason why `name` cannot be a model; "" for a folder, a GGUF file, or a valid Hugging Face name.

    Whether Hugging Face has a model of that name is not checked.
    """
    path = Path(name)
    if path.exists():
        files = [each for each in (path.iterdir() if path.is_dir() else [path]) if each.exists()]
        special = [each for each in files if not (each.is_dir() or each.is_file())]
        if special:
            return f"{special[0]} is a device or a pipe, not a file"
        return (
            ""
            if path.is_dir() or name.endswith(GGUF)
            else f"{name} is a file: name its folder, or a GGUF file"
        )
    if name.endswith(GGUF):
        return f"there is no file {name}"
    try:
        huggingface_hub.utils.validate_repo_id(name)
    except huggingface_hub.utils.HFValidationError:
        return f"there is no folder {name}, and no model on Hugging Face can have this name"
    return ""


def reason(problem: Exception, name: str) -> str:
    """Why the model called `name` cannot be loaded, in one line, after loading has raised `problem`.

    If `name` is a folder, files that match a pattern in READ_FILES are tried in alphabetical order. If one
    cannot be read, the reason names the first such file. Otherwise the reason is the message of `problem`.
    """
    folder = Path(name)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not any(path.match(pattern) for pattern in READ_FILES):
            continue
        try:
            with path.open("rb") as file:
                if path.suffix == ".json":
                    json.load(file)
                elif path.suffix == ".safetensors":
                    safe_open(path, "pt")
        except (OSError, ValueError, RecursionError, SafetensorError) as damage:
            return f"{path} cannot be read: {getattr(damage, 'strerror', None) or one_line(damage)}"
    return one_line(problem)


def tokenizer_of(name: str, folder: Any, **options: Any) -> Any:
    """Load the tokenizer of the model called `name` from its folder, or its name on Hugging Face.

    Raises NoModel if the model has no tokenizer. In this case, transformers raises an exception, or returns a
    tokenizer that knows no words.
    """
    try:
        found = transformers.AutoTokenizer.from_pretrained(folder, **NO_CODE, **options)
    except Exception as problem:  # third-party files and code
        raise NoModel(f"{name} has no tokenizer that can be loaded: {reason(problem, name)}") from None
    if len(set(found.get_vocab()) - set(found.all_special_tokens)) < MIN_VOCABULARY:
        raise NoModel(f"{name} has no tokenizer: save one there, with tokenizer.save_pretrained({name!r})")
    return found


def how_much_is_read(
    tokenizer: Any, text: str, examples: list[list[int]], most: int, *, by_line: bool = False
) -> str:
    """A message that says how many tokens of a text are read, and how many the text has.

    examples: the tokens that are read, in windows. most: the largest number of tokens to read. The number of
    tokens of a long text is estimated from the number in its beginning.
    """
    special = tokenizer.num_special_tokens_to_add()
    read = sum(len(example) - special for example in examples)
    begin = text[: TEXT_CHARACTERS_PER_TOKEN * most]
    ids = tokenizer(_parts(begin, by_line), add_special_tokens=False, verbose=False)["input_ids"]
    whole = round(sum(map(len, ids)) * len(text) / len(begin))
    if read >= whole:
        return f"all {read:,} tokens of the text are read"
    about = "" if len(begin) == len(text) else "some "
    return f"{read:,} of {about}{whole:,} tokens of the text are read; --tokens sets how many"


def quiet() -> None:
    """Silence the warnings of transformers and huggingface_hub, and the progress bars of transformers."""
    transformers.logging.set_verbosity_error()
    huggingface_hub.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def _head(config: Any) -> Any:
    """The class with which transformers loads a model together with its prediction head.

    It is the first class that the configuration names and transformers has; classes for pre-training do not
    count. If there is none, the kinds of models are tried in this order: masked, sequence-to-sequence and
    causal language models, models without a head. The first kind that has a class for the model is taken.
    """
    every = [each for each in config.architectures or () if not each.endswith("ForPreTraining")]
    named = [getattr(transformers, each, None) for each in every]
    if any(named):
        return next(each for each in named if each)
    heads = (
        transformers.AutoModelForMaskedLM,
        transformers.AutoModelForSeq2SeqLM,
        transformers.AutoModelForCausalLM,
    )
    return next((each for each in heads if type(config) in each._model_mapping), transformers.AutoModel)


def windows(
    tokenizer: Any, model: Any, text: str, *, tokens: int = MAX_TOKENS, by_line: bool = False
) -> list[list[int]]:
    """Cut a text into windows of tokens, each with the special tokens of the model.

    A window is no longer than the model can read, and has at most WINDOW_TOKENS tokens. All windows together
    have at most `tokens` tokens; but there is at least one window, with at least one token of the text. With
    `by_line`, no window spans two lines. Raises NoModel if the text has no tokens, or if most tokens of its
    first window are unknown to the tokenizer.
    """
    longest = min(longest_input(model, tokenizer, WINDOW_TOKENS), tokens)
    longest = max(longest, tokenizer.num_special_tokens_to_add() + 1)
    text = text[: TEXT_CHARACTERS_PER_TOKEN * tokens]
    examples: list[list[int]] = []
    parts = _parts(text, by_line)
    for example in chain.from_iterable(_pieces(tokenizer, part, longest) for part in parts):
        tokens -= len(example)
        if examples and tokens < 0:
            break
        examples.append(example)
    if not examples:
        raise NoModel("this text has no tokens")
    if examples[0].count(tokenizer.unk_token_id) > len(examples[0]) / 2:
        raise NoModel(
            "the tokenizer does not know most of this text: check upper and lower case,"
            " and whether it needs spaces between letters"
        )
    return examples


def longest_input(model: Any, tokenizer: Any, most: int) -> int:
    """The number of tokens that a model can read at once, but at most `most`.

    RoBERTa and its relatives have fewer usable positions than their configuration states: the first
    `padding_idx` + 1 positions are not used.
    """
    config = getattr(model.config, "text_config", model.config)
    positions = getattr(config, "max_position_embeddings", None) or getattr(
        config, "max_target_positions", None
    )
    if positions and positions > 0:  # XLNet, which has no limit, says −1
        tables = [each for name, each in model.named_modules() if name.endswith("position_embeddings")]
        unused = [each.padding_idx + 1 for each in tables if getattr(each, "padding_idx", None) is not None]
        most = min(most, positions - max(unused, default=0))
    return min(most, tokenizer.model_max_length)


def _parts(text: str, by_line: bool) -> list[str]:
    """The lines of a text if `by_line`, else [text]; a blank line or text is left out."""
    return [part for part in (text.splitlines() if by_line else [text]) if part.strip()]


def _pieces(tokenizer: Any, text: str, longest: int) -> Iterator[list[int]]:
    """Cut a text into windows of at most `longest` tokens, each with the tokenizer's special tokens."""
    if tokenizer.is_fast:
        how: dict[str, Any] = {"max_length": longest, "truncation": True, "return_overflowing_tokens": True}
        yield from tokenizer(text, verbose=False, **how)["input_ids"]
        return
    ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    for k in range(0, len(ids), inner := longest - tokenizer.num_special_tokens_to_add()):
        yield tokenizer.build_inputs_with_special_tokens(ids[k : k + inner])


def _read(model: Any, ids: Any, *, last: bool = False) -> None:
    """Call the model on the token ids `ids`. Raises NoModel if the call fails.

    last: compute logits at the last token only, to save time; ignored by models that lack this option.
    """
    given: dict[str, Any] = {TEXT_ARGUMENT: ids, "attention_mask": torch.ones_like(ids)}
    if last and "logits_to_keep" in inspect.signature(model.forward).parameters:
        given["logits_to_keep"] = 1
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = ids
    try:
        model(**given)
    except Exception as problem:  # third-party model code
        raise NoModel(f"the model cannot read this text: {one_line(problem)}") from None


def _counted(tell: Callable[[str], None], total: int) -> Callable[[str], None]:
    """Add a progress bar to `tell`: returns a function that can be the argument `tell` of `Recorder`.

    The function passes each line on to `tell`, but replaces a line that reports a call of the model by a
    progress bar. `total` is the number of calls.
    """
    done = 0

    def counted(line: str) -> None:
        nonlocal done
        if not line.startswith("recorded"):
            return tell(line)
        done += 1
        return tell(f"recorded {bar(done / total)} {done} of {total}")

    return counted


def _words(seen: Recorder, tokenizer: Any) -> dict[int, str]:
    kept = {int(token) for norm in seen.recording.norms for token in norm.token if token >= 0}
    return {token: tokenizer.decode([token])[:MAX_WORD_CHARACTERS] for token in sorted(kept)}
