"""Record a sample of the inputs of a running model's norms, by forward hooks that are removed afterwards.

All norms draw the same random numbers for their samples (`Reservoir`), so norms that see the same tokens
keep the vectors of the same tokens. If a forward pass calls a module several times, like the single layer of
ALBERT, each call has an entry of its own in the recording: `path#1`, `path#2`, … A compiled model runs
uncompiled while it is recorded, and layers recomputed in backward (gradient checkpointing) do not count.
"""

from __future__ import annotations

import copy
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import chain
from typing import Any, Self
from weakref import WeakSet

import numpy as np

from geometry.arrays import shown
from learning.file_error import one_line
from learning.recording.digest import REDUCED, save
from learning.recording.enclosing import Enclosing, above
from learning.recording.known import GATED, Known, NotKnown, agrees, as_float64, known
from learning.recording.massive import energies
from learning.recording.messages import (
    ROOT_PATH,
    bar,
    clipped,
    grouped,
    listed,
    none_found,
    other_norms,
    print_line,
    with_noun,
)
from learning.recording.recording import (
    MAX_PATH_CHARACTERS,
    MAX_REASON_CHARACTERS,
    MAX_VECTORS,
    NORM_KINDS,
    SOURCES,
    UNTRACED,
    Recording,
)
from learning.recording.reservoir import Reservoir
from learning.recording.sources import Sources

Array = np.ndarray
OUTPUT_CHECK_VECTORS = 4  # vectors of a norm's first call whose output the formula must reproduce
VECTOR_METADATA_BYTES = 40  # bytes that a vector takes besides its coordinates
MAX_CALLS_PER_PASS = 64  # calls of one module in a forward pass; each has its own entry in the recording
Verdicts = Callable[..., Mapping[str, tuple[str, str]]]
Place = tuple[str, int]  # the path of a norm, and the number of its call in a pass, from 1
Contributions = Callable[
    [Any, Sequence[Any], Mapping[str, Any], Mapping[Place, int]], Mapping[Place, tuple[Sources, Sources]]
]
NO_VECTORS = "the batch was empty, or all of it was padding"
NOT_ALONE = "its output is not that of the norm alone"
OVERFLOW = "its inputs are so large that their squares overflow"
COMPILED_MODULE_ATTRIBUTE = "_orig_mod"  # here torch.compile keeps the original module

being_recorded = WeakSet[Any]()  # the modules of all models that are being recorded


def record(model: Any, **options: Any) -> AbstractContextManager[Recorder]:
    """Record the inputs of a PyTorch model's norms while the `with` block runs. options: as for `Recorder`.

    Raises TypeError if `model` is no module of PyTorch, and ValueError for a model without a recognised norm,
    for a model that is being recorded already, and unless `vectors` is 1 … 2,000.
    """
    return Recorder(model, **options).listening()


class Recorder:
    """A recording in progress, which `with record(model)` yields: it samples the inputs of a model's norms.

    vectors    the number of input vectors to keep of each norm, drawn at random with `seed`
    name       the model's name in the recording; by default the last part of the name or path in its
               configuration, or the name of its class
    verdicts   called after the block with the model and the inputs of its first call; returns for each norm
               whether its centring folds into its neighbours, and why (`learning.convert.centring`)
    contributions  called after the block with the model, the inputs of its first recorded call, and the
               dimension with most energy of each norm's inputs; returns which modules write the norms' inputs
               (`learning.convert.contributions`)
    tell       called with a line of text: at the start, on the norms and the largest file size; after each
               call of the model; and at the end, for each norm that was not recorded. By default, lines are
               printed to stderr; if stderr is not a terminal, only the lines at the end

    Padding that a mask marks is left out. The function `record` lists the errors that are raised.
    """

    def __init__(
        self,
        model: Any,
        *,
        vectors: int = MAX_VECTORS,
        seed: int = 0,
        name: str = "",
        verdicts: Verdicts | None = None,
        contributions: Contributions | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        if not (isinstance(vectors, int | float | np.number) and vectors in range(1, MAX_VECTORS + 1)):
            raise ValueError(f"`vectors` must be an integer from 1 to {MAX_VECTORS:,}: got {shown(vectors)}")
        if not isinstance(name, str):
            raise TypeError(f"`name` is a text, such as 'step 1000': got {shown(name)}")
        if not (tell is None or callable(tell)):
            raise TypeError(f"`tell` is a function of a text: got {shown(tell)}")
        self.model = model = getattr(model, COMPILED_MODULE_ATTRIBUTE, model)
        if not hasattr(model, "named_modules"):
            raise TypeError(
                f"`record` takes a torch.nn.Module, got {type(model).__name__}: load the model first, or use "
                "the command `normscape record`, which takes a name or a folder"
            )
        self.vectors, self.seed, self.tell = int(vectors), seed, tell or print_line
        self.name = name or _name(model)
        self.words: Mapping[int, str] = {}
        self.special: Collection[int] = frozenset()
        self.skipped: dict[str, str] = {}
        self.known: dict[str, Known] = {}
        self.modules = {_plain(path): module for path, module in model.named_modules()}
        like = next(chain(model.parameters(), model.buffers()), None)
        for path, module in self.modules.items():
            try:
                found = None if like is None else known(path or ROOT_PATH, module, like)
            except NotKnown as reason:
                self.skipped[path or ROOT_PATH] = str(reason)
            else:
                self.known |= {} if found is None else {path: found}
        self.others = other_norms(self.modules, self.known)
        if not self.known:
            every = "; ".join(grouped(self.skipped)) or none_found(self.others)
            every = clipped(every, MAX_REASON_CHARACTERS)
            raise ValueError(f"this model has no norm that is understood: {every}")
        self.samples: dict[Place, Reservoir] = {}
        self.checked: set[Place] = set()  # calls of norms whose output agreed with the norm's formula
        self.enclosing = Enclosing()
        self.calls = 0
        self.find_verdicts, self.verdicts = verdicts, dict[str, tuple[str, str]]()
        self.first: tuple[Any, Any] | None = None  # the arguments of the model's first call
        self.find_sources, self.sources = contributions, dict[Place, tuple[Sources, Sources]]()
        self.first_kept: tuple[Any, Any] | None = None  # the arguments of its first recorded call
        self.keeps, self.counted = True, Counter[tuple[str, int]]()  # vectors seen while `counting`
        self.depth, self.called = 0, Counter[str]()  # nesting depth of modules, calls of norms, in this pass

    @contextmanager
    def counting(self) -> Iterator[None]:
        """While the block runs, only count the norms' input vectors, so that `size` can be estimated."""
        self.keeps = False
        try:
            yield
        finally:
            self.keeps = True

    def size(self, times: float) -> int:
        """Estimate the size in bytes of a recording of `times` as many vectors as `counting` has counted.

        At most `self.vectors` vectors are kept for each norm. If a norm is called several times in one pass,
        this limit holds for each of these calls by itself.
        """
        sizes = [
            min(self.vectors, round(times * count)) * (4 * self.known[path].norm.d + VECTOR_METADATA_BYTES)
            for (path, _), count in self.counted.items()
        ]
        return sum(sizes)

    @contextmanager
    def listening(self) -> Iterator[Self]:
        """Install the hooks while the block runs; afterwards call `verdicts` and `contributions`.

        Raises ValueError if another recording of a module of the model is in progress, because that recording
        would also contain the calls that these two functions make.
        """
        modules = list(self.modules.values())
        if not being_recorded.isdisjoint(modules):
            raise ValueError("this model is being recorded already: end that `with` block first")
        handles: list[Any] = []
        being_recorded.update(modules)
        try:
            self._listen(handles)
            with _uncompiled():
                yield self
        finally:
            being_recorded.difference_update(modules)
            for handle in handles:
                handle.remove()
        self._ask_for_verdicts()
        self._ask_for_sources()
        self._list_left_out()

    def _list_left_out(self) -> None:
        """Pass lines to `tell` that say which norms were not, or not wholly, recorded, and why.

        If no norm was recorded, `tell` is not called.
        """
        if self.samples:
            for line in listed(self.left_out()):
                self.tell(line)

    def _ask_for_sources(self) -> None:
        """Call the function `contributions` for the first recorded call of the model; keep what it returns.

        The function gets the model, the arguments of this call, and each norm's dimension with most energy.
        If it raises an exception, the message is passed to `tell`, and `sources` stays empty. Nothing is done
        if no such function was given, or no call was recorded.
        """
        if self.find_sources is None or self.first_kept is None:
            return
        (args, kwargs), self.first_kept = self.first_kept, None
        tops = {
            place: int(np.argmax(energies(sample.x[: sample.kept].astype(float))))
            for place, sample in self.samples.items()
            if place[0] not in self.skipped and np.isfinite(sample.x[: sample.kept]).all() and sample.kept
        }
        try:
            self.sources = dict(self.find_sources(self.model, args, kwargs, tops))
        except Exception as problem:  # third-party model code
            self.tell(f"which modules write the norms' inputs is not known: {one_line(problem)}")

    def _ask_for_verdicts(self) -> None:
        """Call `verdicts` with the model and its first inputs; keep the result ("unknown" if it fails).

        Does nothing if no such function was given, or the model was not called.
        """
        if self.find_verdicts is None or self.first is None:
            return
        (args, kwargs), self.first = self.first, None
        try:
            found = self.find_verdicts(self.model, *args, **kwargs)
        except Exception as problem:  # third-party model code
            found = dict.fromkeys(self.known, ("unknown", f"the model cannot be traced: {one_line(problem)}"))
        self.verdicts = {_plain(path): each for path, each in found.items()}

    def _listen(self, handles: list[Any]) -> None:
        kinds = Counter(NORM_KINDS[each.norm.kind] for each in self.known.values())
        words = ", ".join(with_noun(number, kind) for kind, number in kinds.items())
        size = self.vectors * sum(4 * each.norm.d + VECTOR_METADATA_BYTES for each in self.known.values())
        most = f"at most {size / 1e6:,.1f} MB if each is called once in a pass"
        self.tell(f"found {words}: up to {with_noun(self.vectors, 'vector')} of each are kept, {most}")
        for path, found in self.known.items():
            hook = self._norm(path, found)
            handles.append(self.modules[path].register_forward_hook(hook, with_kwargs=True))
        for outer in dict.fromkeys(each for path in self.known for each in above(path)):
            if outer in self.modules:
                module = self.modules[outer]
                handles.append(module.register_forward_pre_hook(self._enters(outer), with_kwargs=True))
                handles.append(module.register_forward_hook(self._leaves(outer), always_call=True))
        handles.append(self.model.register_forward_pre_hook(self._starts, with_kwargs=True))
        handles.append(self.model.register_forward_hook(self._called))

    def _starts(self, module: Any, args: Any, kwargs: Any) -> None:
        try:
            if self.find_verdicts is not None and self.first is None:
                self.first = copied_arguments(args), copied_arguments(kwargs)
            if self.find_sources is not None and self.first_kept is None and self.keeps:
                self.first_kept = copied_arguments(args), copied_arguments(kwargs)
        except Exception:  # arguments that cannot be copied; the model's call must go on
            self.find_verdicts = self.find_sources = self.first = self.first_kept = None

    def _called(self, *_: Any) -> None:
        if not self.keeps:
            return
        self.calls += 1
        seen = max((sample.seen for sample in self.samples.values()), default=0)
        done = bar(min(1.0, seen / self.vectors))
        self.tell(
            f"recorded {done} {with_noun(self.calls, 'call')}, up to {with_noun(seen, 'vector')} a norm"
        )

    def _enters(self, path: str) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any) -> None:
            if not self.depth:
                self.called.clear()
            self.depth += 1
            self.enclosing.enter(path, module, args, kwargs)

        return hook

    def _leaves(self, path: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            self.depth -= 1
            self.enclosing.leave(path)

        return hook

    def _norm(self, path: str, recognised: Known) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            if path in self.skipped or _in_backward():
                return
            self.called[path] = call = self.called[path] + 1 if self.depth else 1
            if call > MAX_CALLS_PER_PASS:
                self.skipped[path] = (
                    f"it is called more than {MAX_CALLS_PER_PASS} times in a pass, so it is not recorded"
                )
                return
            try:
                given: list[Any] = [each for each in (*args, *kwargs.values()) if hasattr(each, "detach")]
                x: Any = given[0] if given else None
                if getattr(x, "is_nested", False):  # sequences of different lengths
                    for one, made in zip(x.unbind(), output.unbind(), strict=True):
                        self._take((path, call), recognised, one, made)
                else:
                    self._take((path, call), recognised, x, output)
            except NotKnown as reason:
                gated = f"{reason}: {GATED}" if str(reason) == NOT_ALONE and len(given) > 1 else str(reason)
                self.skipped[path] = gated
            except Exception as problem:  # such as from torch.func.vmap; the model's call must go on
                self.skipped[path] = f"its vectors cannot be read: {one_line(problem)}"

        return hook

    def _take(self, place: tuple[str, int], recognised: Known, x: Any, output: Any) -> None:
        """Offer the input vectors of a norm's call to the sample of `place`; in `counting`, only count them.

        `place` is the norm's path and the number of this call in the pass. Raises NotKnown if `x` has not the
        shape of the norm's inputs, or if the norm's formula is wrong for the first finite vectors of `place`.
        """
        every = recognised.vectors(x)
        lead, vectors = tuple(every.shape[:-1]) or (1,), every.detach().reshape(-1, recognised.norm.d)
        made = recognised.vectors(output).detach().reshape(vectors.shape)
        if place not in self.checked:
            finite = vectors.isfinite().all(-1).nonzero()[:OUTPUT_CHECK_VECTORS, 0]
            tried = vectors[finite]
            if len(finite) and not agrees(recognised.norm, as_float64(tried), made[finite], tried.dtype):
                wide = tried if tried.itemsize > 2 else tried.float()  # norms compute in 32 bits or more
                raise NotKnown(NOT_ALONE if wide.square().mean(-1).isfinite().all() else OVERFLOW)
            self.checked |= {place} if len(finite) else set()
        if not self.keeps:
            self.counted[place] += len(vectors)
            return
        sample = self.samples.setdefault(place, Reservoir(self.vectors, recognised.norm.d, self.seed))
        known_of_each = self.enclosing.vectors(place[0], lead).items()
        about = {name: each for name, each in known_of_each if each is not None}
        rows = np.flatnonzero(about["real"]) if "real" in about else np.arange(len(vectors))
        new, places = sample.choose(len(rows))
        chosen = rows[new]
        # select first, so that only the kept vectors are copied from the device
        sample.x[places] = vectors[chosen].cpu().float().numpy()
        sample.about[places, 0] = about["position"][chosen]
        sample.about[places, 1] = about["token"][chosen] if "token" in about else -1

    @property
    def recording(self) -> Recording:
        """The recording so far. Raises ValueError if no norm can be recorded, or none got finite inputs."""
        norms = []
        for (path, call), sample in self.samples.items():
            if path in self.skipped:
                continue
            own = self._row_name(path, call)
            order = np.argsort(sample.about[: sample.kept, 2])
            order = order[sample.finite[order]]
            if not len(order):
                continue
            position, token, number = sample.about[order].T
            about: dict[str, Any] = {"position": position, "token": token, "number": number}
            folds, why = self.verdicts.get(path, ("unknown", UNTRACED))
            about |= {
                "seen": sample.seen,
                "x": sample.x[order],
                "folds": folds,
                "why": clipped(why, MAX_REASON_CHARACTERS),
            }
            about |= dict(zip(SOURCES, self.sources.get((path, call), ()), strict=False))
            norms.append(replace(self.known[path].norm, path=own, **about))
        if not norms:
            called = self.samples or not self.known.keys() - self.skipped.keys()
            why = "; ".join(grouped(self._reasons())) or NO_VECTORS
            why = why if called else "call the model inside the `with` block"
            raise ValueError(f"no norm was recorded: {clipped(why, MAX_REASON_CHARACTERS)}")
        left_out = tuple(clipped(line, MAX_PATH_CHARACTERS) for line in self.left_out())
        return Recording(norms, self.name[:MAX_PATH_CHARACTERS], self.words, left_out, self.special)

    def left_out(self) -> list[str]:
        """A line for each norm that was not, or not wholly, recorded: its path and the reason.

        All batch norms of the model share one line; all instance norms share another.
        """
        lines = [f"{path}: {why}" for path, why in self._reasons().items()]
        return lines + grouped(self.others)

    def _reasons(self) -> dict[str, str]:
        """For each norm that was not, or not wholly, recorded, the reason by path."""
        lossy = {}
        for (path, call), sample in self.samples.items():
            if path not in self.skipped and (lost := sample.kept - int(sample.finite.sum())):
                some = f"{lost} of {sample.kept} vectors, which are not finite"
                why = some if lost < sample.kept else "none of its vectors is finite"
                lossy[self._row_name(path, call)] = why
        return {path or ROOT_PATH: why for path, why in (self.skipped | lossy).items()}

    def _row_name(self, path: str, call: int) -> str:
        """The name of the norm at `path` in the recording, with the number `call` if it has several calls."""
        several = sum(own == path for own, _ in self.samples) > 1
        return f"{path or ROOT_PATH}#{call}" if several else path or ROOT_PATH

    def __repr__(self) -> str:
        seen = max((sample.seen for sample in self.samples.values()), default=0)
        norms = f"{with_noun(len(self.samples), 'norm')} recorded, {len(self.skipped)} not"
        norms += f", at most {with_noun(seen, 'vector')} each"
        return f"<{type(self).__name__} {self.name}: {with_noun(self.calls, 'call')}, {norms}>"

    def save(self, path: Any, *, full: bool = False) -> None:
        """Write the recording to a file; if it is too large for a page, only its digest: what the page shows.

        With `full`, the whole recording is written whatever its size.
        """
        if save(self.recording, path, full=full):
            self.tell(REDUCED)


def copied_arguments(given: Any, tensor: Callable[[Any], Any] = lambda each: each) -> Any:
    """Copy the arguments of a model's call, because the call may change them.

    tensor: a function that is applied to each tensor, such as one that copies it. By default the tensors
    themselves are in the copy.
    """
    if type(given) in (list, tuple):
        return type(given)(copied_arguments(each, tensor) for each in given)
    if type(given) is dict:
        return {name: copied_arguments(each, tensor) for name, each in given.items()}
    return tensor(given) if hasattr(given, "detach") else copy.deepcopy(given)


def _name(model: Any) -> str:
    """The last part of the model's name or path in its configuration, or else the name of its class."""
    said = str(getattr(getattr(model, "config", None), "name_or_path", "") or "")
    return said.rstrip("/").rpartition("/")[2] or type(model).__name__


def _plain(path: str) -> str:
    """A module's path without the parts that torch.compile inserts."""
    return ".".join(name for name in path.split(".") if name != COMPILED_MODULE_ATTRIBUTE)


def _uncompiled() -> AbstractContextManager[Any]:
    """Run compiled modules uncompiled while the block runs, because compiled code calls no hooks."""
    import torch

    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()


def _in_backward() -> bool:
    """Whether the backward pass is running, in which gradient checkpointing repeats forward calls."""
    import torch

    return bool(torch._C._current_graph_task_id() >= 0)
