"""Train many networks at once, one per random seed. Needs PyTorch.

The first axis of all parameter tensors counts seeds. The result for a network does not depend on which other
networks are trained beside it.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import isfinite, sqrt
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from learning.datasets import DataSet
from learning.film import Film
from learning.history import History
from learning.models import Model
from learning.untrusted_npz import MAX_NUMBERS

CHECKPOINT_SECONDS = 0.15  # shortest time between two progress reports (`Moment`), in seconds
VECTOR_LANES = 32  # a multiple of how many numbers a vector instruction processes at once
LIMITS = {"seeds": (1, 256), "steps": (1, 100_000), "seed": (0, 2**31), "checkpoints": (2, 1000)}


@dataclass(frozen=True)
class Moment:
    """A progress report of a training: its state at the latest checkpoint.

    step             the training step of this checkpoint
    steps            the number of steps of the whole training
    seconds          the time since the training began
    loss, accuracy   (S,) of each seed's network at this checkpoint
    ended            for each seed, at which step its training diverged, in words; "" if it did not
    done             whether the training has ended
    film             a function that returns the checkpoints so far, thinned, as a `Film`
    """

    step: int
    steps: int
    seconds: float
    loss: np.ndarray
    accuracy: np.ndarray
    ended: tuple[str, ...]
    done: bool
    film: Callable[[], Film]


def train(
    network: Model,
    data: DataSet,
    *,
    seeds: int = 32,
    steps: int = 4000,
    lr: float = 0.01,
    seed: int = 0,
    test: DataSet | None = None,
    checkpoints: int = 150,
    falling: bool = False,
) -> Generator[Moment, None, Film]:
    """Train one network for each of the seeds seed … seed + seeds − 1 with Adam; yields progress reports.

    A report (`Moment`) is yielded at most 7 times a second; the first describes the networks before any step.
    In the end the generator returns the record of the training, a `Film`, which has the weights at
    checkpoints. The loss is binary cross entropy on one logit for two classes, and cross entropy for more.

    data          each step trains on `data.batch(step)`; loss and accuracy are measured on `data` itself
    lr            the learning rate
    test          data on which the `test_accuracy` of the film is measured; None: the film has none
    checkpoints   the largest number of checkpoints in the film; fewer if its file would be too large
    falling       whether the learning rate falls linearly, from `lr` at the first step to 0 after the last

    If the training of a seed diverges (see `History`), this seed ends and the others go on. The result of a
    seed depends neither on timing nor on the other seeds. Raises ValueError for numbers outside LIMITS, a
    learning rate that is not positive, data that do not fit the network, and a loss that is not finite at the
    start.
    """
    numbers = {"seeds": seeds, "steps": steps, "seed": seed, "checkpoints": checkpoints}
    _check(network, data, test, lr, numbers)
    start, breath = perf_counter(), 0.0
    kept = min(checkpoints, most_checkpoints(seeds, network))
    with _one_thread():
        run = _Run(network, data, test, lr=lr, seeds=range(seed, seed + seeds), steps=steps, falling=falling)
    while True:
        with _one_thread():
            run.go(breath)
        moment = run.moment(perf_counter() - start, kept, numbers | {"lr": lr})
        yield moment
        if moment.done:
            return moment.film()
        breath = CHECKPOINT_SECONDS


def most_checkpoints(seeds: int, network: Model) -> int:
    """The largest number of checkpoints for which the weights of `seeds` networks fit into a film's file.

    network: the architecture of these networks.
    """
    return MAX_NUMBERS["weights"] // (seeds * network.parameter_count)


def trained(network: Model, data: DataSet, **options: Any) -> Film:
    """Run `train` to its end and return the record of the training. options: the arguments of `train`."""
    *_, last = train(network, data, **options)
    return last.film()


class _Run:
    """The state of a running training.

    The rounding errors of one seed's network must not depend on the number of seeds, because training
    amplifies them until the curves differ visibly. So the numbers of each seed fill whole vector registers of
    the processor (see `_tensors`). For the same reason at least two seeds are trained: PyTorch
    multiplies a batch of one matrix in another way than a larger batch.
    """

    def __init__(self, network, data, test, *, lr, seeds, steps, falling=False):
        self.network, self.data, self.test, self.step = network, data, test, 0
        self.lr, self.falling = lr, falling
        self.batch, self.given = data, _tensors(network, data)
        self.history = History(network, len(seeds), steps)
        start = torch.from_numpy(network.initial(range(seeds.start, max(seeds.stop, seeds.start + 2))))
        # all parameters share one contiguous tensor, so that a single `Adam` updates them all
        parts = network.parts(start)
        flat = torch.cat([part.flatten() for part in parts])
        pieces = flat.split([part.numel() for part in parts])
        self.leaves = [p.view(part.shape).requires_grad_() for p, part in zip(pieces, parts, strict=True)]
        self.adam = Adam(flat, lr=lr)

    def go(self, seconds: float) -> None:
        """Train for at least `seconds`, and then until the next checkpoint, or until the training ends."""
        end = perf_counter() + seconds
        while True:
            x, labels, weight = self._learned()
            logits = self.network.logits(self.leaves, x)
            loss = losses(logits, labels, weight)
            checkpoint = self.history.wants(self.step)
            if checkpoint:
                own = loss.detach(), accuracies(logits.detach(), labels, weight)
                self._record(*(own if self.batch is self.data else self._measured(self.data)))
            if self.history.done:
                return
            gradients = torch.autograd.grad(loss.sum(), self.leaves)
            if self.falling:
                self.adam.lr = self.lr * (1 - self.step / self.history.steps)
            self.adam.step(torch.cat([gradient.flatten() for gradient in gradients]))
            self.step += 1
            if checkpoint and perf_counter() >= end:
                return

    def moment(self, seconds: float, checkpoints: int, settings: dict[str, Any]) -> Moment:
        history, k = self.history, self.history.count - 1
        return Moment(
            step=int(history.at[k]),
            steps=history.steps,
            seconds=seconds,
            loss=history.loss[k].copy(),
            accuracy=history.accuracy[k].copy(),
            ended=tuple(history.ended),
            done=history.done,
            film=partial(
                history.film,
                self.data,
                settings,
                checkpoints=checkpoints,
                count=history.count,
                tested=self.test is not None,
            ),
        )

    def _learned(self) -> "Tensors":
        """The tensors of the batch for this step; the previous ones if the batch has not changed."""
        batch = self.data.batch(self.step)
        if batch is not self.batch:
            self.batch, self.given = batch, _tensors(self.network, batch)
        return self.given

    def _measured(self, data: DataSet) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss (S,) and accuracy (S,) of the current networks on a data set."""
        x, labels, weight = _tensors(self.network, data)
        with torch.no_grad():
            logits = self.network.logits(self.leaves, x)
            return losses(logits, labels, weight), accuracies(logits, labels, weight)

    def _record(self, loss, accuracy):
        weights = torch.cat([leaf.detach().flatten(1) for leaf in self.leaves], dim=1)
        tested = accuracy if self.test is None else self._measured(self.test)[1]
        self.history.add(self.step, *(part.numpy() for part in (weights, loss, accuracy, tested)))


class Adam:
    """The Adam optimiser for one tensor p, with the same results and defaults as PyTorch's.

    Each step changes p in place by its gradient g: m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g²,
    p ← p − lr·m̂/(√v̂ + ε), where m̂ and v̂ are m and v after bias correction. torch.optim.Adam is not used,
    because importing it loads PyTorch's compiler. Loading takes longer than the training before the first
    picture. Source: Kingma and Ba, 2015.
    """

    def __init__(self, p: torch.Tensor, *, lr: float, betas=(0.9, 0.999), eps: float = 1e-8):
        self.p, self.lr, self.betas, self.eps, self.count = p, lr, betas, eps, 0
        self.m, self.v = torch.zeros_like(p), torch.zeros_like(p)

    def step(self, g: torch.Tensor) -> None:
        self.count += 1
        first, second = self.betas
        self.m.lerp_(g, 1 - first)
        self.v.mul_(second).addcmul_(g, g, value=1 - second)
        root = self.v.sqrt().div_(sqrt(1 - second**self.count)).add_(self.eps)
        self.p.addcdiv_(self.m, root, value=-self.lr / (1 - first**self.count))


def losses(logits: torch.Tensor, labels: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The mean cross entropy (S,) of each seed's M predictions, weighted by `weight` (M,).

    logits: (S, M, 1) for two classes, (S, M, K) for K > 2. labels: (M,) the correct classes.
    """
    share = weight / weight.sum()
    if logits.shape[-1] == 1:
        sign = 1 - 2 * labels.to(logits.dtype)
        return (functional.softplus(sign * logits[..., 0]) * share).sum(-1)
    picked = labels.expand(logits.shape[:-1])[..., None]
    return ((logits.logsumexp(-1) - logits.gather(-1, picked)[..., 0]) * share).sum(-1)


def accuracies(logits: torch.Tensor, labels: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The accuracy (S,) of the network of each seed: the fraction of correct predictions.

    logits, labels, weight: as in `losses`; predictions count by their `weight`.
    """
    guess = logits[..., 0] > 0 if logits.shape[-1] == 1 else logits.argmax(-1)
    return ((guess == labels) * weight).sum(-1) / weight.sum()


Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def _tensors(network: Model, data: DataSet) -> Tensors:
    """The points of a data set, and the labels and weights of their predictions, as tensors.

    Points of weight 0 are added until the number of points is a multiple of VECTOR_LANES. Otherwise the last
    points would not fill a vector register of the processor, and PyTorch would round them differently.
    """
    count = len(data.points)
    more = -count % VECTOR_LANES
    points = np.concatenate([data.points, data.points[:1].repeat(more, axis=0)])
    labels = np.concatenate([data.labels, data.labels[:1].repeat(more)])
    there = (np.arange(count + more) < count).astype(np.float32)
    return torch.from_numpy(points), *map(torch.from_numpy, network.answers(points, labels, there))


@contextmanager
def _one_thread() -> Iterator[None]:
    """While the block runs, PyTorch uses one thread, which is fastest for small tensors."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _check(network, data, test, lr, numbers):
    for name, value in numbers.items():
        low, high = LIMITS[name]
        if not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} is a whole number, {low} … {high}: got {value}")
    if not (isfinite(lr) and lr > 0):
        raise ValueError(f"lr is a number above 0: got {lr}")
    outputs = 1 if data.classes == 2 else data.classes
    for each in (data, test or data):
        if (each.points.shape[1], each.classes) != (
            network.inputs,
            data.classes,
        ) or outputs != network.outputs:
            raise ValueError(
                f"these data need {each.points.shape[1]} inputs and {outputs} outputs: "
                f"the network has {network.inputs} and {network.outputs}"
            )
