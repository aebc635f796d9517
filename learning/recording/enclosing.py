"""Tokens, positions and padding of a norm's input vectors, from the arguments of the modules around the norm.

A transformer gets its tokens, masks and positions once; its norms get vectors only. Modules that contain a
norm are therefore watched while they run.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray
MASK_ARGUMENTS = {"attention_mask": True}  # padding masks, and whether True in the mask marks a token
MASK_ARGUMENTS |= dict.fromkeys(("src_key_padding_mask", "tgt_key_padding_mask", "key_padding_mask"), False)
TOKEN_ARGUMENT = "input_ids"
POSITION_ARGUMENT = "position_ids"
CACHE_ARGUMENT = "past_key_values"  # keys and values of tokens from earlier calls


class Enclosing:
    """The tokens, masks and positions with which the running modules that contain norms were called.

    given: for the path of each such module, a dict of these arguments by name. A mask that the module could
    take but was not given is None.
    """

    def __init__(self) -> None:
        self.given: dict[str, Mapping[str, Any]] = {}
        # number of tokens in the key–value cache that a module with token ids is given; None without a cache
        self.cached: dict[str, int | None] = {}

    def enter(self, path: str, module: Any, args: Any, kwargs: Any) -> None:
        """Note the tokens, positions and masks with which the module at `path` is called."""
        takes = inspect.signature(module.forward)
        try:
            said = takes.bind_partial(*args, **kwargs).arguments
        except TypeError:
            said = {}
        every = {**dict.fromkeys(set(MASK_ARGUMENTS) & set(takes.parameters)), **said, **kwargs}
        self.given[path] = {
            name: each
            for name in (TOKEN_ARGUMENT, POSITION_ARGUMENT, *MASK_ARGUMENTS)
            if name in every and ((each := every[name]) is None or getattr(each, "ndim", 0) == 2)
        }
        if TOKEN_ARGUMENT in takes.parameters:
            self.cached[path] = _cached_tokens(every.get(CACHE_ARGUMENT))

    def leave(self, path: str) -> None:
        """Forget what `enter` noted of the module at `path`, whose call has ended."""
        self.given.pop(path, None)
        self.cached.pop(path, None)

    def vectors(self, path: str, lead: tuple[int, ...]) -> Mapping[str, Array | None]:
        """Find the padding, the tokens and the positions of the input vectors of the norm at `path`.

        Returns three arrays with one value per vector: `real` (False for padding), `token` and `position`.
        They are taken from the arguments of the modules around the norm: each from the nearest module that
        was called with an argument of fitting shape. Without such a module, `real` or `token` is None, and
        `position` counts on from the number of earlier tokens if a key–value cache, or a mask that includes
        these tokens, tells this number; otherwise it counts from 0. lead: the shape of the vectors without
        the axis of coordinates.
        """
        parts: dict[str, Any] = {"real": None, "token": None, "position": None}
        axis, start = min(1, len(lead) - 1), None
        n = lead[axis]
        for ancestor in above(path):
            around = self.given.get(ancestor, {})
            for name, given in around.items():
                part = {TOKEN_ARGUMENT: "token", POSITION_ARGUMENT: "position"}.get(name, "real")
                if part == "position" and given is not None and len(lead) > 1:
                    given = given.expand(lead[0], -1) if len(given) == 1 else given
                at = _axis(given, lead)
                if at is None or parts[part] is not None:
                    continue
                if part != "position":
                    axis, n = at, lead[at] if at else given.shape[1]
                    if start is None:
                        start = self.cached.get(ancestor)
                    if start is None and given.shape[1] > n:
                        start = given.shape[1] - n
                spread = _spread(given.detach().cpu().numpy()[:, -(lead[at] if at else n) :], lead, at)
                parts[part] = (spread != 0) ^ (not MASK_ARGUMENTS[name]) if part == "real" else spread
            if _axis(around.get(TOKEN_ARGUMENT), lead) is not None and MASK_ARGUMENTS.keys() & around.keys():
                break  # has tokens and a mask: arguments of outer modules belong to another input
        if parts["position"] is None:
            places = (start or 0) + np.arange(lead[axis]) % n
            parts["position"] = places if axis == 0 else _spread(places[None, :], lead, axis)
        return parts


def above(path: str) -> list[str]:
    """The paths of all modules that contain the module at `path`, nearest first. The last is "", the model.

    `path` itself must not be "".
    """
    names = path.split(".")
    return [".".join(names[:k]) for k in range(len(names) - 1, -1, -1)]


def _cached_tokens(cache: Any) -> int | None:
    """The number of tokens in a key–value cache of transformers; None for any other object, and for None."""
    try:
        if hasattr(cache, "get_seq_length"):
            return int(cache.get_seq_length())
        return int(cache[0][0].shape[-2])  # older: keys and values (batch, heads, n, d) of each layer
    except (
        TypeError,
        IndexError,
        AttributeError,
        ValueError,
    ):  # ValueError: a cache without attention layers
        return None


def _axis(given: Any, lead: tuple[int, ...]) -> int | None:
    """The index of the axis of `lead` that counts the n positions of `given`; None if there is none.

    given: a mask, tokens or positions (batch, n), or None. lead: the shape of the vectors without the axis of
    coordinates. It is (batch, n, …), or (batch, …, n), or (batch·n,).

    With a key–value cache, `given` includes earlier positions, which have no vectors. So if neither axis 1
    nor the last axis of `lead` has the length n, but axis 1 is shorter than n, the result is axis 1.
    """
    shape = (0, 0) if given is None else tuple(given.shape)
    if len(lead) == 1:
        return 0 if lead[0] == prod(shape) else None
    if shape[0] != lead[0]:
        return None
    axes = (1, len(lead) - 1)
    fits = [axis for axis in axes if lead[axis] == shape[1]] or [1] * (lead[1] <= shape[1])
    return next(iter(fits), None)


def _spread(said: Array, lead: tuple[int, ...], axis: int) -> Array:
    """Turn values for positions into values for the vectors of an array (*lead, d), as a flat array.

    said: the value for each position, of shape (batch, n), or (1, n) if all sequences have the same values.
    axis: the axis of `lead` that counts positions. If `lead` has a single axis, `said` has a value for each
    vector already.
    """
    if len(lead) < 2:
        return said.reshape(-1)
    shape = [1] * len(lead)
    shape[0], shape[axis] = said.shape
    return np.broadcast_to(said.reshape(shape), lead).reshape(-1)
