"""A forward pass in any precision that loads the weights of a block (a layer) only while the block runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any

import torch

from learning.convert.confirm import Float64

Inputs = Mapping[str, Any]
OUTPUTS = ("logits", "last_hidden_state")
EMBEDDINGS = ("image_embeds", "text_embeds")


def output(model: Any, weights: Callable[[str], Any], dtype: Any, inputs: Inputs) -> Any:
    """The output of a model for `inputs` as one float64 tensor: logits, last hidden state or embeddings.

    If the model returns several of these, the first in this order is taken. If it returns embeddings of
    images and of texts, they are concatenated along the last axis. If it returns none of these, its first
    output is taken.

    model      a model without weights, made by `Checkpoint.outline` for this dtype
    weights    returns the tensor of each entry of the model's state dict, by name
    dtype      the dtype of the computation. If it is float64, steps for which the model's code asks for
               float32 are computed in float64 too
    """
    given = {
        name: each.to(dtype) if torch.is_tensor(each) and each.is_floating_point() else each
        for name, each in inputs.items()
    }
    blocks = _blocks(model)
    inside = {id(module) for block in blocks.values() for module in block.modules()}
    outside = {name: module for name, module in model.named_modules() if id(module) not in inside}
    with ExitStack() as stack, torch.no_grad():
        if dtype == torch.float64:
            stack.enter_context(Float64())
        for name, block in blocks.items():
            parts = {f"{name}.{part}".rstrip("."): each for part, each in block.named_modules()}
            for handle in _hooked(block, partial(_placed, parts, weights, dtype)):
                stack.callback(handle.remove)
        stack.enter_context(_placed(outside, weights, dtype))
        said = model(**given)
    found = [said[name] for name in OUTPUTS if said.get(name) is not None][:1]
    found = found or [said[name] for name in EMBEDDINGS if name in said] or [said[0]]
    return torch.cat(found, -1).double()


def _blocks(model: Any) -> dict[str, Any]:
    """The blocks of a model, such as its layers, by path: the members of its `ModuleList`s.

    A member that is itself a `ModuleList` or `ModuleDict` is no block. The members of a `ModuleList` inside a
    block are no further blocks.
    """
    found: dict[str, Any] = {}
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.ModuleList) and not any(name.startswith(f"{each}.") for each in found):
            found |= {
                f"{name}.{k}": each
                for k, each in enumerate(module)
                if not isinstance(each, (torch.nn.ModuleList, torch.nn.ModuleDict))
            }
    return found


def _hooked(block: Any, place: Callable[[], AbstractContextManager[None]]) -> tuple[Any, Any]:
    """Make each forward pass of a block run within the context that `place()` returns.

    Adds two hooks to the block, and returns their handles, with which the hooks can be removed.
    """
    stack = ExitStack()

    def start(*_: Any) -> None:
        stack.enter_context(place())

    def end(*_: Any) -> None:
        stack.close()

    return block.register_forward_pre_hook(start), block.register_forward_hook(end, always_call=True)


@contextmanager
def _placed(modules: Mapping[str, Any], weights: Callable[[str], Any], dtype: Any) -> Iterator[None]:
    """Load the weights of modules for the time of a `with` block, then put the previous ones back.

    modules: by their path in the model. Each parameter and buffer is replaced by the tensor that `weights`
    returns for its name in the state dict, cast to `dtype` if it is a floating-point tensor. Non-persistent
    buffers stay as they are. A shared parameter is loaded only once.
    """
    before, shared = [], {}
    for path, module in modules.items():
        for home in (module._parameters, module._buffers):
            for name, own in home.items():
                if own is None or (home is module._buffers and name in module._non_persistent_buffers_set):
                    continue
                before.append((home, name, own))
                if id(own) not in shared:
                    read = weights(f"{path}.{name}".lstrip("."))
                    read = read.to(dtype) if read.is_floating_point() else read
                    shared[id(own)] = torch.nn.Parameter(read, False) if home is module._parameters else read
                home[name] = shared[id(own)]
    try:
        yield
    finally:
        for home, name, own in before:
            home[name] = own
