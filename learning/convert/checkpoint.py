"""Read a Hugging Face checkpoint tensor by tensor, and write a new one shard by shard.

Tensors are views of memory-mapped files, so that a model may be larger than memory. Only if the model
computes tensors from stored ones, as from a GGUF file, the whole model is loaded into memory.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import huggingface_hub
import torch
import transformers
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from tqdm import tqdm
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import WeightConverter, WeightRenaming, rename_source_key
from transformers.initialization import no_tie_weights

from learning.convert import load as strict
from learning.file_error import one_line
from learning.recording.pretrained import NO_CODE, NoModel, not_found, not_loaded, quiet, reason, tokenizer_of

Load = Callable[[str], Any]  # returns a tensor by its name in the model

CONFIG, INDEX, SINGLE = "config.json", "model.safetensors.index.json", "model.safetensors"
WEIGHT_FILES = ("*.safetensors", "*.bin", "*.pt", "*.pth", "*.h5", "*.msgpack", "*.onnx", "*.ot", "*.gguf")
NOT_COPIED = (*WEIGHT_FILES, "*.index.json", ".*", "onnx", "openvino", "certificate.*", "load.py")
DOWNLOADED = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")


class NotConverted(ValueError):
    """Raised for a model that cannot be read, run or converted, with a one-line message that says why."""


@contextmanager
def one_line_errors(what: str, model: str | None = None) -> Iterator[None]:
    """Turn exceptions in the `with` block into NotConverted, with a one-line message that begins with `what`.

    If the exception is a NotConverted already, it is raised unchanged. model: the name of the model that is
    loaded in the block; if one of its files is damaged, the message names this file.
    """
    try:
        yield
    except NotConverted:
        raise
    except Exception as problem:  # third-party model code
        why = one_line(problem) if model is None else reason(problem, model)
        raise NotConverted(f"{what}: {why}") from None


class Checkpoint:
    """A model checkpoint, given by a name on the Hugging Face hub, a folder, or a GGUF file.

    Two tensors of a model are tied if they are one tensor with two names. Files may store it once, or under
    both names.

    config, architecture   the configuration and the class of the model
    shards                 for each file, the names (in the model) of the tensors that it stores
    ties                   for each tied tensor that is not stored: the stored tensor to which it is tied
    repeated               names of tensors without values of their own. Some are not stored: tied tensors and
                           buffers. The others are stored as copies of the tensors to which they are tied
    unused                 names of stored tensors that the architecture does not have

    Raises NotConverted for a model that cannot be read.
    """

    def __init__(self, name: str) -> None:
        quiet()
        self._given, self.name = name, name.rstrip("/").rpartition("/")[2]
        with one_line_errors(not_loaded(name)):
            self.folder, self._options = _found(name)
        with one_line_errors(not_loaded(name), name):
            self.config = transformers.AutoConfig.from_pretrained(self.folder, **NO_CODE, **self._options)
            if getattr(self.config, "quantization_config", None):
                raise NotConverted(f"{name} has quantised weights, which cannot be folded")
            self.architecture = _architecture(self.config)
            self.unused: tuple[str, ...] = ()
            self._whole: dict[str, Any] = {}
            self._stored: dict[str, tuple[Any, str]] = {}
            self.shards: dict[str, list[str]] = {}
            self.ties: dict[str, str] = {}
            self.repeated = frozenset[str]()
            outline = self.outline(self.config.dtype or torch.float32)
            state = outline.state_dict(keep_vars=True)
            if self._options or not self._mapped(outline, state):
                self._read_whole()
            self.repeated = self._repeated(outline, state)
            self._tie(outline)
            parameters = dict(outline.named_parameters(remove_duplicate=False))
            self.ties = self._tied(parameters)
            for each in set(state) - set(parameters):  # buffers, which may be missing in older files
                if each not in self:
                    self._whole[each] = state[each]
            missing = [each for each in parameters if each not in self]
            if missing:
                raise NotConverted(f"{name} lacks {len(missing)} of its tensors, such as {missing[0]}")

    def __contains__(self, name: str) -> bool:
        return name in self.ties or name in self._stored or name in self._whole

    def load(self, name: str) -> Any:
        """The tensor called `name` in the model; for a tied tensor, the stored tensor to which it is tied."""
        name = self.ties.get(name, name)
        if name in self._whole:
            return self._whole[name]
        file, stored = self._stored[name]
        return file.get_tensor(stored)

    def stored_name(self, name: str) -> str:
        """The name under which a file stores the tensor that the model calls `name`.

        The two names can differ, because older files use other names.
        """
        return self._stored[name][1] if name in self._stored else name

    def outline(self, dtype: Any) -> Any:
        """The model without weights, for evaluation: parameters on the "meta" device, buffers in memory."""
        with _parameters_on_meta(), no_tie_weights():
            model = self.architecture._from_config(copy.deepcopy(self.config), dtype=dtype)
            strict.replace_norms(model)
        self._tie(model)
        return model.eval()

    def model(self) -> Any:
        """The model with its weights. Where possible they are memory-mapped: read when they are first used.

        Weights are in memory from the start if they come from a GGUF file, are computed from stored tensors,
        or are stored in another number format than the model's.
        """
        model = self.outline(self.config.dtype or torch.float32)
        state = model.state_dict(keep_vars=True)
        weights = {name: self.load(name).to(own.dtype) for name, own in state.items()}
        model.load_state_dict(weights, assign=True)
        self._tie(model)
        return model

    def tokenizer(self) -> Any:
        try:
            return tokenizer_of(self._given, self.folder, **self._options)
        except NoModel as problem:
            raise NotConverted(str(problem)) from None

    @cached_property
    def files(self) -> list[Path]:
        """The paths of the weight files."""
        if self._options:
            return [self.folder / self._options["gguf_file"]]
        return [self.folder / name for name in sorted(_files(self.folder))]

    def sha256(self) -> dict[str, str]:
        """The SHA-256 hash of each weight file, by file name."""
        return {path.name: _sha256(path) for path in self.files}

    def _mapped(self, outline: Any, state: dict[str, Any]) -> bool:
        """Memory-map the weight files, and note in which file each tensor of the model is stored.

        outline, state: the model without weights, and its tensors by name. Returns whether all tensors can be
        read in this way. They cannot if the model computes one of its tensors from stored ones.
        """
        known = get_model_conversion_mapping(outline)
        renamed = [each for each in known if isinstance(each, WeightRenaming)]
        computed = [each for each in known if isinstance(each, WeightConverter)]
        unused = []
        for path in self.files:
            file = safe_open(path, "pt")
            for stored in file.offset_keys():
                name, source = stored, None
                if stored not in state:
                    name, source = rename_source_key(
                        stored, renamed, computed, outline.base_model_prefix, state
                    )
                if source is not None:
                    return False
                if name not in state:
                    unused.append(stored)
                    continue
                self._stored[name] = file, stored
                self.shards.setdefault(path.name, []).append(name)
        self.unused = tuple(sorted(unused))
        return True

    def _read_whole(self) -> None:
        model, info = self.architecture.from_pretrained(
            self.folder, dtype="auto", output_loading_info=True, **self._options
        )
        self._whole, self._stored = model.state_dict(), {}
        self._whole = {name: each for name, each in self._whole.items() if name not in info["missing_keys"]}
        self.unused = tuple(sorted(info["unexpected_keys"]))
        seen, own = dict[int, str](), dict(model.named_parameters(remove_duplicate=False))
        kept = [name for name in self._whole if seen.setdefault(id(own.get(name, name)), name) == name]
        self.shards = {SINGLE: kept}

    @property
    def stored(self) -> set[str]:
        """The names of all stored tensors that the model uses, as the model calls them (not the files)."""
        return {name for names in self.shards.values() for name in names}

    def _repeated(self, model: Any, state: dict[str, Any]) -> frozenset[str]:
        """The names of tensors without values of their own: not stored, or stored as a copy of another one.

        A copy counts only if the architecture ties it to the other tensor. state: the tensors of `model` by
        name.
        """
        pairs = [pair for pair in model.all_tied_weights_keys.items() if self.stored.issuperset(pair)]
        read = ([self.load(each).to(state[each].dtype) for each in pair] for pair in pairs)
        twice = {pair[0] for pair, values in zip(pairs, read, strict=True) if torch.equal(*values)}
        return frozenset(set(state) - self.stored | twice)

    def _tie(self, model: Any) -> None:
        """Tie the weights of `model`: let the names of a shared weight refer to one tensor.

        For example, the output matrix of a language model may be the same tensor as its embedding. The names
        in `repeated` have no values of their own; each gets the tensor of the name to which it is tied.
        `from_pretrained` of transformers does the same.
        """
        model.tie_weights(missing_keys=set(self.repeated), recompute_mapping=False)

    def _tied(self, parameters: dict[str, Any]) -> dict[str, str]:
        """For each parameter that is not stored, the name of the stored parameter to which it is tied.

        parameters: all parameters of the model by name. Those that are tied to each other are one object.
        """
        stored = self.stored
        homes = {id(each): name for name, each in parameters.items() if name in stored}
        return {
            name: homes[id(each)]
            for name, each in parameters.items()
            if name not in stored and id(each) in homes
        }


def write(
    source: Checkpoint,
    folder: Path,
    tensor: Load,
    *,
    added: dict[str, str],
    dropped: frozenset[str] = frozenset(),
    config: dict[str, Any],
) -> None:
    """Write a copy of the checkpoint `source` to `folder`, with other values of its tensors.

    tensor    a function that returns the new values of a tensor by name. They are stored in the tensor's
              dtype in `source`
    added     maps the name of each new tensor to the name of an existing one, whose file and dtype it gets
    dropped   the names of tensors that are left out
    config    the entries of the configuration that change
    """
    _copy_small_files(source, folder, config)
    shards = {file: list(names) for file, names in source.shards.items()}
    for name, like in added.items():
        like = source.ties.get(like, like)
        next(names for names in shards.values() if like in names).append(name)
    place, total = {}, 0
    with tqdm(total=sum(map(len, shards.values())), desc="writing", unit=" tensors", disable=None) as bar:
        for file, names in shards.items():
            held = {}
            for name in names:
                bar.update()
                if name in dropped:
                    continue
                dtype = source.load(added.get(name, name)).dtype
                stored = source.stored_name(name)
                # copied, because safetensors refuses to write two tensors that share memory
                new = tensor(name).to(dtype, copy=name in source.repeated)
                held[stored] = new.contiguous()
                place[stored], total = file, total + held[stored].nbytes
            save_file(held, folder / file, metadata={"format": "pt"})
    if len(shards) > 1:
        index = {"metadata": {"total_size": total}, "weight_map": place}
        (folder / INDEX).write_text(json.dumps(index, indent=2), encoding="utf-8")


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Write a folder atomically: yields a temporary folder, which is renamed to `out` when the block ends.

    If the block raises an exception, the temporary folder is removed. Raises NotConverted if `out` exists, or
    cannot be written.
    """
    if out.exists():
        raise NotConverted(f"{out} exists: name a folder that does not")
    if not out.parent.is_dir():
        raise NotConverted(f"{out}: there is no folder {out.parent}")
    folder = out.parent / f".{out.name}.{os.getpid()}.part"
    try:
        folder.mkdir()  # inside `try`, so that an interrupted process removes the folder
        yield folder
        folder.rename(out)
    except (OSError, SafetensorError) as problem:  # such as a full disk
        why = getattr(problem, "strerror", None) or one_line(problem)
        raise NotConverted(f"the folder {out} cannot be written: {why}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _found(name: str) -> tuple[Path, dict[str, str]]:
    path = Path(name)
    if missing := not_found(name):
        raise NotConverted(missing)
    if path.suffix == ".gguf":
        return path.parent, {"gguf_file": path.name}
    if path.is_dir():
        return path, {}
    return Path(huggingface_hub.snapshot_download(name, allow_patterns=list(DOWNLOADED))), {}


def _files(folder: Path) -> set[str]:
    if (folder / SINGLE).exists():
        return {SINGLE}
    if (folder / INDEX).exists():
        return set(json.loads((folder / INDEX).read_text("utf-8"))["weight_map"].values())
    raise NotConverted(f"{folder} has no {SINGLE}: weights are read as safetensors alone")


def _architecture(config: Any) -> Any:
    named = getattr(transformers, (config.architectures or [""])[0], None)
    if named is not None:
        return named
    for auto in (transformers.AutoModelForCausalLM, transformers.AutoModel):
        if type(config) in auto._model_mapping:
            found = auto._model_mapping[type(config)]
            return found[0] if isinstance(found, tuple) else found
    raise NotConverted(f"transformers has no model for the configuration {type(config).__name__}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy_small_files(source: Checkpoint, folder: Path, config: dict[str, Any]) -> None:
    if source._options:
        source.config.save_pretrained(folder)
        source.tokenizer().save_pretrained(folder)
    else:
        ignored = shutil.ignore_patterns(*NOT_COPIED)
        try:
            shutil.copytree(source.folder, folder, ignore=ignored, dirs_exist_ok=True)
        except shutil.Error as problem:
            path, _, why = problem.args[0][0]
            why = re.sub(r"^\[Errno \d+\] ([^:]*).*", r"\1", why)  # without the number and the path
            raise NotConverted(f"{path} cannot be copied: {why}") from None
    path = folder / CONFIG
    entries = json.loads(path.read_text("utf-8"))
    entries |= {"architectures": [source.architecture.__name__], **config}
    path.write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")


@contextmanager
def _parameters_on_meta() -> Iterator[None]:
    """While the block runs, create modules whose parameters are on the "meta" device and take no memory.

    Buffers are created as usual.
    """
    register = torch.nn.Module.register_parameter

    def on_meta(module: Any, name: str, parameter: Any) -> None:
        register(module, name, parameter)
        if parameter is not None and not parameter.is_meta:
            module._parameters[name] = torch.nn.Parameter(parameter.to("meta"), parameter.requires_grad)

    torch.nn.Module.register_parameter = on_meta
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = register
