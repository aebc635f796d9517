"""Train the films that are shipped, and write them to films/. `make films`, or with names only those.

What comes out is the same each time, but for rounding that differs between machines.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from time import perf_counter
from typing import Any

import numpy as np
import torch

from geometry import center, gates, layer_norm, rms_norm, softmax
from geometry.angles import to_mean_line
from geometry.centering import hyperplane_basis
from geometry.clouds import gaussian
from geometry.fates import unbeaten
from geometry.windows import windows
from learning.attention import NORMS, Attention
from learning.datasets import SPACES, DataSet, digits, largest, octants, random_labels, spiral, xor
from learning.drift import along, drift, drifting, written
from learning.film import Film, score, to_npz
from learning.history import thinned
from learning.language import (
    EPS,
    Shape,
    from_file,
    gain_and_shift,
    initial,
    layer_norm_of,
    losses,
    measured,
    read,
    to_file,
)
from learning.language_training import causal, learned
from learning.majority import BATCH, HELD, epochs, majority
from learning.network import MIDDLES, Network
from learning.recording import digest as recording
from learning.recording.ours import seen
from learning.shipped import FOLDER
from learning.shuffles import KINDS as SHUFFLED
from learning.shuffles import PLACES, harm
from learning.stack import KINDS, drawn, streams
from learning.training import trained
from tools.imitations import imitations

POINTS = (8, 16, 32)  # of random labels
LABELLINGS, SHOWN = 4, 3  # how often their labels are drawn, and which of these has a film
DEPTHS = range(1, 7)
STARTS = ((0.03, 4000), (0.01, 4000), (0.01, 20_000))  # learning rates and steps, with many starts
READERS, READ = 5, 1500  # language models of each kind, and steps that each learns
RATES = {"slow": (0.001, 4000), "fast": (0.01, 1500)}  # learning rates and steps with attention
FALLING = {"lr": 0.001, "steps": 17_000}  # as 004 trains it, but with 256 sequences a step in place of 6,000
FALLING_BATCH, FALLING_HELD = 256, 512
FALLING_SEEDS = dict.fromkeys(NORMS, 2) | {"layer_norm": 4}  # whose first two are far apart
NUMBERS = (5, 10, 20, 50, 100, 200, 500)  # of Gaussian keys,
DIMENSIONS = (2, 3, 4, 5, 6, 8, 10, 12, 16)  # theirs,
SLIDING, SLID, TEN, FEW = (32, 64, 256), 16, 10, 64  # windows that slide, letters followed in them; how many
PASSAGES, APART = (
    6,
    560,
)  # windows long, with how large a window a model writes; texts, and how far they are apart
LONG, SHUFFLES = 3000, 100  # steps, and shuffles of a kind, of models with heads
SOFT = (("box", 0.0), ("box", 1.0), ("triangle", 0.5), ("triangle", 1.0), ("sine", 1.0))  # windows, overlaps
SURFACES = ("layer_norm", "rms_norm", "layer_norm_ball", "rms_norm_ball")  # what heads of 4 × 4 axes read
SHIPPED = (("box", 0.0), ("triangle", 1.0))  # of these, of the first seed
SOFTLY, TAUGHT = 4, 1200  # models of each kind, and their steps
ASIDE, BRIEF = 6144, 4096  # characters not learned from, and of a text that is learned by heart
TREMBLE, TREMBLES = 0.5, 8  # noise on what heads read, in its own size, and how often drawn
SETS = 100  # and how often they are drawn
ARMS = ("drawn", "centred", "scaled", "layernorm", "eps")  # what becomes of them
WINDOWS, VECTORS = 8, 600  # of the text that is recorded, and vectors of each norm that are kept
FILTERS = {"layer_norm": 240, "rms_norm": 600}  # points that feed-forward networks learn from, by their norm
EXPANSIONS = range(1, 5)
GAINS, STREAMS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0), (4, 64)  # of blocks in a row: branches, widths,
BLOCKS, TOKENS, DRAWS = 12, 16, 20  # how many, on how many tokens, and how often drawn
WIDE, NARROW = 32, 3  # hidden layers of the digits: all but the last, and the last where it is drawn


def plane(turns: float, depth: int, **options: Any) -> Film:
    return trained(Network(2, 3, depth, 1), spiral(200, turns=turns, noise=0, seed=0), **options)


def stored(film: Film, data: DataSet, *, half: bool) -> Film:
    """A film as seen on these data, with its weights as they will be stored."""
    network, weights = (
        film.network,
        film.weights.astype(np.float16 if half else np.float32).astype(np.float32),
    )
    labels, weight = network.answers(data.points, data.labels, np.ones(len(data.points)))
    told = [
        [score(network.logits(network.parts(flat), data.points), labels, weight) for flat in seed]
        for seed in weights
    ]
    loss, accuracy = np.moveaxis(np.array(told), -1, 0)
    return replace(film, weights=weights, data=data, loss=loss, accuracy=accuracy, test_accuracy=None)


def labels() -> None:
    """How many of the networks fit all labels of m points, by depth; and a film of one that does, if any."""
    options: dict[str, Any] = {"steps": 4000, "lr": 0.03}
    table = []
    for m in POINTS:
        for depth in DEPTHS:
            network = Network(2, 3, depth, 1)
            runs = [trained(network, random_labels(m, seed=k), seeds=8, **options) for k in range(LABELLINGS)]
            share = float(np.mean([run.solved(1) for run in runs]))
            table.append({"m": m, "depth": depth, "networks": 8 * LABELLINGS, "fitted": share})
            data = runs[SHOWN].data
            best = trained(network, data, seeds=1, seed=runs[SHOWN].best(), checkpoints=60, **options)
            film = stored(best, data, half=True)
            write(f"labels_{m}_{depth}", film, half=True, words=f"{share:.2f} of {8 * LABELLINGS} fit all")
    write_table("labels", table)


def starts() -> None:
    """Which of 32 starts a set fit all 32 labels at depth 4, by learning rate and steps."""
    rows = []
    for lr, steps in STARTS:
        for k in range(LABELLINGS):
            data = random_labels(32, seed=k)
            run = trained(Network(2, 3, 4, 1), data, lr=lr, steps=steps, checkpoints=2)
            fitted = np.flatnonzero(run.solved(1)).tolist()
            rows.append({"lr": lr, "steps": steps, "set": k, "networks": run.seeds, "fitted": fitted})
            print(f"  starts: {rows[-1]}", flush=True)
    write_table("starts", rows)


def keys(x: np.ndarray, arm: str) -> np.ndarray:
    """What an arm makes of keys, in coordinates of the flat in which they lie then."""
    made = {"drawn": x, "scaled": rms_norm(x, eps=0), "centred": center(x)}
    made |= {"layernorm": layer_norm(x, eps=0), "eps": layer_norm(x)}  # the usual ε = 1e-5
    return made[arm] if arm in ("drawn", "scaled") else made[arm] @ hyperplane_basis(x.shape[-1]).T


def unselectable() -> None:
    """The share of keys that no query selects, by number and dimension: mean over sets, and their spread."""
    table = []
    for n, d in product(NUMBERS, DIMENSIONS):
        row: dict[str, Any] = {"n": n, "d": d, "sets": SETS}
        for arm in ARMS:
            sets = (keys(gaussian(n, d, seed=k), arm) for k in range(SETS))
            shares = [1 - float(np.mean(unbeaten(each))) for each in sets]
            row[arm] = [round(float(np.mean(shares)), 6), round(float(np.std(shares, ddof=1)), 6)]
        table.append(row)
        print(f"  unselectable: {row}", flush=True)
    write_table("unselectable", table)


def language() -> None:
    """A language model with LayerNorm before the attention, and one whose LayerNorm there only centres.

    From texts that are shipped, too: the prose of the fourteen scenes that the site had when they were taken,
    and the last tenth of each, from which none has learned. The site goes on changing, what is learned does
    not.
    The first seed of each is shipped.
    """
    text, held = ((FOLDER / name).read_text("utf-8") for name in ("language_learned.txt", "language.txt"))
    rows = []
    for name, scaled in (("language", True), ("language_centred", False)):
        shape = Shape("".join(sorted(set(text))), scaled=scaled)
        for seed in range(READERS):
            weights = learned(shape, text, seed=seed, steps=READ)
            found = measured(shape, {part: w.astype(np.float64) for part, w in weights.items()}, held)
            figures = {
                part: [round(share, 4) for share in getattr(found, part)] for part in ("before", "after")
            }
            rows.append({"scaled": scaled, "seed": seed, "loss": round(found.loss, 4), **figures})
            print(f"  language: {rows[-1]}", flush=True)
            if seed == 0:
                about = {
                    "about": "a GPT of Normscape, from the texts of its scenes",
                    "seed": "0",
                    "steps": str(READ),
                }
                (FOLDER / f"{name}.safetensors").write_bytes(to_file(shape, weights, **about))
    write_table("language", rows)


def sliding() -> None:
    """How the vectors of letters drift as a window slides on, and what becomes of long texts.

    Of the language models, of as many with no norm at all, whose first is shipped, too. By window, by what
    changes ("places", "past") and by what is looked at (the stream; that part of it across 1; what attention
    reads) the `Drift` of each layer. read: loss and size of the text by windows, one more than ten; written:
    the same, of the text that the model writes.
    """
    text, held = ((FOLDER / name).read_text("utf-8") for name in ("language_learned.txt", "language.txt"))
    rows = []
    for name, options in ARMS_OF_LANGUAGE.items():
        shape = Shape("".join(sorted(set(text))), **options)
        tokens = shape.tokens(held)
        for seed in range(READERS):
            if seed == 0 and name != "language_unnormed":
                weights = from_file((FOLDER / f"{name}.safetensors").read_bytes())[1]
            else:
                weights = learned(shape, text, seed=seed, steps=READ)
            if seed == 0 and name == "language_unnormed":
                about = {"about": "a GPT of Normscape without norms", "seed": "0", "steps": str(READ)}
                (FOLDER / f"{name}.safetensors").write_bytes(to_file(shape, weights, **about))
            weights = {part: w.astype(np.float64) for part, w in weights.items()}
            row: dict[str, Any] = {"model": name, "seed": seed}
            row["loss"] = round(measured(shape, weights, held).loss, 4)
            found = along(shape, weights, tokens, window=shape.window, windows=TEN + 1, every=8)
            row["read"] = [digits_of(each) for each in found]
            found = written(shape, weights, tokens[:FEW], windows=TEN + 1, seed=seed)
            row["written"] = [digits_of(each) for each in found]
            row |= {
                kind: {w: drifts(shape, weights, tokens, w, kind) for w in SLIDING}
                for kind in ("places", "past")
            }
            rows.append(row)
            print(f"  drift: {name}, {seed}: {row['loss']}", flush=True)
            write_table("drift", rows)


ARMS_OF_LANGUAGE: dict[str, dict[str, Any]] = {
    "language": {},
    "language_centred": {"scaled": False},
    "language_unnormed": {"normed": False},
}


def drifts(
    shape: Shape, weights: Mapping[str, np.ndarray], tokens: np.ndarray, window: int, kind: Any
) -> dict[str, dict[str, list[float]]]:
    """Of what is looked at the numbers of `Drift`, each by layer."""
    options: dict[str, Any] = {"window": window, "letters": SLID, "layers": shape.layers, "kind": kind}
    sets = [drifting(shape, weights, tokens[APART * k :], **options) for k in range(PASSAGES)]
    streams = np.moveaxis(np.stack(sets), 1, 0)
    norm = layer_norm_of if shape.normed else gain_and_shift
    reads = [norm(weights, f"h.{k}.ln_1", x, scaled=shape.scaled) for k, x in enumerate(streams)]
    found: dict[str, Any] = {"stream": streams, "across": center(streams), "reads": reads}
    return {
        name: {
            number: digits_of(np.array([getattr(drift(x), number) for x in each]))
            for number in ("path", "spread", "share", "turn")
        }
        for name, each in found.items()
    }


def depth() -> None:
    """Twelve blocks in a row as they are drawn: medians over draws, by norm, width and size of the branches.

    size: the root mean square of the stream's numbers before the first block and after each; turn: the angle
    by which each block turns a token, in degrees; gradient: for 1 to 12 blocks, how long ∂⟨r, end⟩/∂stream is
    at each place beside r, a normal vector; spread: the least and largest of the last sizes and of the first
    gradients of all twelve.
    """
    rows = []
    for width, kind, gain in product(STREAMS, KINDS, GAINS):
        draws = [drawn(width, BLOCKS, TOKENS, seed) for seed in range(DRAWS)]
        blocks = [
            {name: torch.tensor(np.stack([each[k][name] for each, _ in draws])) for name in draws[0][0][k]}
            for k in range(BLOCKS)
        ]
        x = torch.tensor(np.stack([x for _, x in draws]), requires_grad=True)
        found = streams(kind, blocks, x, gain)
        end = torch.tensor(np.random.default_rng(DRAWS).standard_normal(tuple(x.shape)))
        sizes = rms(found)
        gradients = [
            rms(torch.autograd.grad(found[last], found[: last + 1], end, retain_graph=True)) / rms([end])
            for last in range(1, BLOCKS + 1)
        ]
        cosines = [torch.cosine_similarity(a.detach(), b.detach(), dim=-1) for a, b in pairwise(found)]
        turns = np.degrees(np.arccos(torch.stack(cosines).numpy().clip(-1, 1))).mean(-1)
        rows.append(
            {"width": width, "kind": kind, "gain": gain, "size": medians(sizes), "turn": medians(turns)}
            | {"gradient": [medians(each) for each in gradients]}
            | {"spread": [digits_of(np.percentile(each, (0, 100))) for each in (sizes[-1], gradients[-1][0])]}
        )
    write_table("depth", rows)


def rms(arrays: Sequence[torch.Tensor]) -> np.ndarray:
    """(len, S): root mean squares over tokens and coordinates."""
    return np.stack([(each.detach() ** 2).mean((-1, -2)).sqrt().numpy() for each in arrays])


def medians(values: np.ndarray) -> list[float]:
    return digits_of(np.median(values, axis=-1))


def digits_of(values: np.ndarray) -> list[float]:
    """In four digits."""
    return [float(f"{value:.4g}") for value in values]


def heads() -> None:
    """What swaps of axes within one head, within each head, and across heads do to language models.

    Trained ones, and the same before any training, on windows of a text that they have not learned from; both
    texts are shipped, too: prose of the site as it was. Of each place the mean over the shuffles and their
    standard deviation: of the loss that they add, and of the divergence of the guesses. The first seed is
    shipped, with all that its shuffles do.
    """
    text, held = ((FOLDER / f"{name}.txt").read_text("utf-8") for name in ("heads_learned", "heads"))
    shape = Shape("".join(sorted(set(text))), width=32, layers=2, window=64, heads=4)
    rows = []
    for seed in range(READERS):
        weights = learned(shape, text, seed=seed, steps=LONG, rate=0.01)
        if seed == 0:
            about = {"about": "a GPT of Normscape with four heads", "seed": "0", "steps": str(LONG)}
            (FOLDER / "heads.safetensors").write_bytes(to_file(shape, weights, **about))
        for taught, own in ((True, weights), (False, initial(shape, seed))):
            rows += [
                {"seed": seed, "trained": taught} | row for row in harms(shape, own, held, every=seed == 0)
            ]
            print(f"  heads: seed {seed}, {'trained' if taught else 'drawn'}", flush=True)
        write_table("heads", rows)


def harms(
    shape: Shape, weights: Mapping[str, np.ndarray], held: str, *, every: bool
) -> Iterator[dict[str, Any]]:
    """What the shuffles do to one model, by layer and place; `every`: also each, from small to large."""
    tensors = {name: torch.from_numpy(w) for name, w in weights.items()}
    tokens = torch.from_numpy(shape.tokens(held)).reshape(-1, shape.window)
    loss = float(losses(read(shape, tensors, tokens, attend=causal).logits, tokens).mean())
    every_kind = shuffles(shape)
    for layer, place in product(range(shape.layers), PLACES):
        row: dict[str, Any] = {"layer": layer, "place": place, "loss": round(loss, 4)}
        for kind, permutations in every_kind.items():
            found = harm(shape, tensors, tokens, layer, place, permutations, attend=causal).T
            for name, values in zip(("loss", "guesses"), np.round(found, 6) + 0.0, strict=True):
                spread = float(values.mean()), float(values.std(ddof=1))
                row[f"{kind}_{name}"] = [round(value, 6) for value in spread]
                if every:
                    row[f"{kind}_{name}_all"] = sorted(np.round(values, 4).tolist())
        yield row


def shuffles(shape: Shape) -> dict[str, list[np.ndarray]]:
    """The permutations of each kind, the same for all places and models."""
    rng = np.random.default_rng(0)
    return {
        name: [kind(shape.width, shape.heads, rng) for _ in range(SHUFFLES)]
        for name, kind in SHUFFLED.items()
    }


def soft_heads() -> None:
    """Language models whose heads see windows that overlap, or read surfaces of other dimensions.

    Windows: all learn from the same text, for as many steps. Surfaces: of 16 − 2, 15 and 16 dimensions, from
    a text so short that it is learned by heart, as what regularises shows there. Rows give losses in nats a
    character on what was learned from and on what was not, and how much noise on what heads read adds to
    it. Two models of the first seed are shipped.
    """
    text, held = soft_texts()
    shape = Shape("".join(sorted(set(text + held))), width=16, layers=2, window=64, heads=4)
    rows: list[dict[str, Any]] = []
    for seed in range(SOFTLY):
        for window, overlap in SOFT:
            shares = soft_shares(shape, window, overlap)
            weights = learned(shape, text, seed=seed, steps=TAUGHT, rate=0.02, shares=shares)
            row = {"seed": seed, "window": window, "overlap": overlap}
            rows.append(row | told(shape, weights, text, held, shares=shares))
            if seed == 0 and (window, overlap) in SHIPPED:
                about = {"about": "a GPT of Normscape", "seed": "0", "steps": str(TAUGHT)}
                (FOLDER / f"heads_{window}.safetensors").write_bytes(to_file(shape, weights, **about))
            if not overlap:
                for taught, own in ((True, weights), (False, initial(shape, seed))):
                    rows += [{"seed": seed, "trained": taught} | each for each in regions(shape, own, held)]
        for surface in SURFACES:
            norm = surface_of(surface)
            weights = learned(shape, text[:BRIEF], seed=seed, steps=TAUGHT, rate=0.02, norm=norm)
            row = {"seed": seed, "surface": surface}
            rows.append(row | told(shape, weights, text[:BRIEF], held, surface=surface))
        print(f"  soft heads: seed {seed}", flush=True)
        write_table("soft_heads", rows)


def soft_texts() -> tuple[str, str]:
    """What is learned from, and what is not: the texts of `heads`, of which more is held back."""
    text, held = ((FOLDER / f"{name}.txt").read_text("utf-8") for name in ("heads_learned", "heads"))
    return text[:-ASIDE], text[-ASIDE:] + held


def soft_shares(shape: Shape, window: str, overlap: float) -> torch.Tensor | None:
    """How much of each axis a head sees; None for the usual cut."""
    if not overlap:
        return None
    at = np.arange(1, shape.width + 1)
    found = windows(at, shape.width, shape.heads, overlap, shape=window)
    return torch.from_numpy(found.astype(np.float32))


def surface_of(name: str, noise: Callable[[torch.Tensor], torch.Tensor] | None = None) -> Callable[..., Any]:
    """A norm for `read`: LayerNorm; but heads read a sphere, or with ε = 1 a ball, in which a length still
    counts; of all directions, or of those whose mean is 0. noise: what is done to what they read."""
    eps = 1.0 if name.endswith("_ball") else EPS

    def norm(own: Mapping[str, torch.Tensor], at: str, x: torch.Tensor, *, scaled: bool = True) -> Any:
        if at != "ln_1":
            return layer_norm_of(own, at, x, scaled=scaled)
        gamma, beta = own["ln_1.weight"], own["ln_1.bias"]
        centred = name.startswith("layer_norm")
        unit = layer_norm(x, eps=eps) if centred else rms_norm(x, eps=eps)
        found = gamma * unit + beta
        return noise(found) if noise else found

    return norm


def told(
    shape: Shape,
    weights: Mapping[str, np.ndarray],
    text: str,
    held: str,
    *,
    surface: str = "layer_norm",
    shares: torch.Tensor | None = None,
) -> dict[str, float]:
    """The mean loss on whole windows of both texts; and how much noise on what heads read adds to it."""
    tensors = {name: torch.from_numpy(w) for name, w in weights.items()}
    lot = torch.Generator().manual_seed(0)

    def trembling(x: torch.Tensor) -> torch.Tensor:
        return x + TREMBLE * (x**2).mean().sqrt() * torch.randn(x.shape, generator=lot)

    def loss(said: str, noise: Callable[[torch.Tensor], torch.Tensor] | None = None) -> float:
        tokens = in_windows(shape, said)
        reading = read(shape, tensors, tokens, attend=causal, norm=surface_of(surface, noise), shares=shares)
        return float(losses(reading.logits, tokens).mean())

    found = {"learned": loss(text), "held": loss(held)}
    found["noise"] = float(np.mean([loss(held, trembling) for _ in range(TREMBLES)])) - found["held"]
    return {name: round(value, 5) for name, value in found.items()}


def in_windows(shape: Shape, text: str) -> torch.Tensor:
    """The whole windows of a text."""
    count = len(text) // shape.window
    return torch.from_numpy(shape.tokens(text[: count * shape.window])).reshape(count, shape.window)


def regions(shape: Shape, weights: Mapping[str, np.ndarray], text: str) -> Iterator[dict[str, Any]]:
    """By layer, whether the place of a token on the surface tells which head says most to it.

    said: how often that is so for a linear map of the place, found by least squares on every other window, in
    the rest; most: the share of the commonest head there.
    """
    tensors, d = {name: torch.from_numpy(w) for name, w in weights.items()}, shape.width // shape.heads
    tokens = in_windows(shape, text)
    for k, block in enumerate(read(shape, tensors, tokens, attend=causal).blocks):
        out = tensors[f"h.{k}.attn.c_proj.weight"].reshape(shape.heads, d, shape.width)
        sizes = torch.linalg.vector_norm(block.weights @ block.v @ out, dim=-1)
        loudest = torch.argmax(sizes, dim=1)
        place = torch.cat([block.keys, torch.ones_like(block.keys[..., :1])], -1)
        wanted = torch.nn.functional.one_hot(loudest, shape.heads).to(place.dtype)
        fit = torch.linalg.lstsq(place[::2].flatten(0, 1), wanted[::2].flatten(0, 1)).solution
        rest = loudest[1::2]
        said = torch.argmax(place[1::2] @ fit, dim=-1) == rest
        most = torch.bincount(rest.flatten(), minlength=shape.heads).max() / rest.numel()
        yield {"layer": k, "said": round(float(said.double().mean()), 4), "most": round(float(most), 4)}


def norms() -> None:
    """What the norms of the language model see, before its training and after, on the text that it has not
    learned from."""
    shape, weights = from_file((FOLDER / "language.safetensors").read_bytes())
    text = (FOLDER / "language.txt").read_text("utf-8")[: WINDOWS * shape.window]
    tokens = shape.tokens(text).reshape(-1, shape.window)
    start = {name: w.astype(np.float64) for name, w in initial(shape, 0).items()}
    for name, each, called in (("trained", weights, "trained"), ("start", start, "before training")):
        found = seen(shape, each, tokens, name=f"a small GPT, {called}", vectors=VECTORS)
        (FOLDER / f"norms_{name}.safetensors").write_bytes(recording.to_file(recording.digest(found)))


def digit_network(middle: str, depth: int, last: int) -> Network:
    return Network(64, WIDE, depth, 10, middle, widths=(*[WIDE] * (depth - 1), last))


def numerals() -> None:
    """Test accuracy by activation, depth and width of the last hidden layer; a film of one on the sphere."""
    train, test = digits(seed=0)
    options: dict[str, Any] = {"steps": 600, "test": test}
    table = []
    for last in (WIDE, NARROW):
        for middle in MIDDLES:
            for depth in range(1, 5):
                run = trained(digit_network(middle, depth, last), train, seeds=3, **options)
                assert run.test_accuracy is not None
                tests = sorted(round(float(accuracy), 4) for accuracy in run.test_accuracy[:, -1])
                table.append({"middle": middle, "depth": depth, "last": last, "accuracies": tests})
                print(f"  digits: {middle}, depth {depth}, last {last}: {tests}", flush=True)
    write_table("digits", table)
    network = digit_network("u_eps", 4, NARROW)
    options |= {"steps": 1500}
    seed = trained(network, train, seeds=4, **options).best()  # by the data that it has learned from
    film = trained(network, train, seeds=1, seed=seed, checkpoints=50, **options)
    write("digits", stored(film, test, half=True), half=True, words="on the 360 that it has not learned from")


def counting() -> None:
    """Attention that finds the most frequent class, by its norm and the learning rate: films and a table.

    A row a film: for each seed the first steps with these accuracies (None: never) and how it ends, and the
    medians of its curves.
    """
    rows = []
    for rate, (lr, steps) in RATES.items():
        for norm in NORMS:
            data = majority(HELD, seed=0, batch=BATCH)
            run = trained(Attention(norm=norm), data, seeds=10, steps=steps, lr=lr, checkpoints=300)
            angle = turned(run)
            keep = thinned(run.loss.T, 60)
            curves = {"loss": run.loss, "accuracy": run.accuracy, "angle": angle}
            rows.append(
                {"norm": norm, "rate": rate, "lr": lr, "steps": steps, "batch": BATCH}
                | {f"to_{share}": reached(run, share / 100) for share in (50, 90, 99)}
                | {f"end_{name}": np.round(each[:, -1], 4).tolist() for name, each in curves.items()}
                | {"at": run.steps[keep].tolist()}
                | {name: np.round(np.median(each, 0)[keep], 4).tolist() for name, each in curves.items()}
            )
            write(f"majority_{norm}_{rate}", kept(run), half=True)
            write_table("majority", rows)


def falling() -> None:
    """The same for as many steps as 004 trains, from as many examples, with its rate that falls: a table.

    A row for each norm. Some ten minutes of a core.
    """
    rows: list[dict[str, Any]] = []
    data, options = epochs(FALLING_HELD, seed=0, batch=FALLING_BATCH), FALLING | {"falling": True}
    for norm in NORMS:
        run = trained(Attention(norm=norm), data, seeds=FALLING_SEEDS[norm], checkpoints=300, **options)
        curves = {"loss": run.loss, "accuracy": run.accuracy, "angle": turned(run)}
        rows.append(
            {"norm": norm, "seeds": [*range(FALLING_SEEDS[norm])], "batch": FALLING_BATCH}
            | FALLING
            | {f"to_{share}": reached(run, share / 100) for share in (50, 90, 99)}
            | {f"end_{name}": np.round(each[:, -1], 4).tolist() for name, each in curves.items()}
        )
        write_table("majority_falling", rows)


def turned(film: Film) -> np.ndarray:
    """The mean angle (S, T) of the queries to 1, in degrees."""
    return to_mean_line(film.network.queries(film.weights.astype(float))).mean(-1)


def reached(film: Film, accuracy: float) -> list[int | None]:
    return [None if np.isnan(step) else int(step) for step in film.steps_to(accuracy)]


def kept(film: Film) -> Film:
    """The film with every third of 32 checkpoints along its loss and its time, as it will be stored."""
    film = at(film, thinned(film.loss.T, 32))
    film = at(film, np.unique([*range(0, len(film.steps), 3), len(film.steps) - 1]))
    return stored(film, film.data, half=True)


def at(film: Film, keep: np.ndarray) -> Film:
    """The film with these of its checkpoints alone."""
    parts = {name: getattr(film, name)[:, keep] for name in ("weights", "loss", "accuracy")}
    return replace(film, steps=film.steps[keep], **parts)


def symmetrise() -> None:
    """Blocks that imitate LayerNorm: their table, and a film of each kind."""
    rows = []
    for row in imitations():
        rows.append(row)
        print(f"  symmetrise: {row}", flush=True)
        write_table("symmetrise", rows)


def filters() -> None:
    """Feed-forward networks that say which coordinate is largest in size, by norm, function and expansion.

    A row a film: how each seed ends, and of its first Linear at the start and at the end what `passed` says.
    """
    rows = []
    for norm, function, k in product(FILTERS, ("relu", "gelu"), EXPANSIONS):
        network = Network(3, 3 * k, 1, 3, function)
        options: dict[str, Any] = {"seeds": 8, "steps": 2000, "checkpoints": 24}
        film = trained(network, largest(FILTERS[norm], norm=norm), **options)
        film = stored(film, film.data, half=True)
        row: dict[str, Any] = {"norm": norm, "function": function, "expansion": k, "steps": 2000, "lr": 0.01}
        row |= {"accuracy": [round(float(a), 4) for a in film.accuracy[:, -1]]}
        for name, at in (("start", 0), ("end", -1)):
            each = [passed(film, SPACES[norm], seed, at) for seed in range(film.seeds)]
            row |= {f"{part}_{name}": [round(one[part], 4) for one in each] for part in each[0]}
        rows.append(row)
        write(f"ffn_{norm}_{function}_{k}", film, half=True)
    write_table("ffn", rows)


def passed(film: Film, basis: np.ndarray, seed: int, at: int) -> dict[str, float]:
    """What a seed's first Linear, at a checkpoint, and its function make of the points y.

    off: the share of the numbers that are not above 0; bits: the entropy of their sign patterns; lost: the
    share of points that share their image, were the function ReLU; back: how far the best affine map from the
    hidden layer to y misses; hidden, answer: how far y and −y are apart in that layer, and as probabilities.
    The last three are roots of mean squares, as shares of the spread there.
    """
    (A, b), last = film.network.unflatten(film.weights[seed, at].astype(float))
    net, y = film.network.pipeline([(A, b), last]), film.data.points.astype(float)
    here, across = ([*net.stages(x), softmax(net.stages(x)[-1])] for x in (y, -y))
    known = np.column_stack([here[2], np.ones(len(y))])
    missed = y - known @ np.linalg.lstsq(known, y)[0]
    return {
        "off": float(np.mean(here[1] <= 0)),
        "bits": gates.pattern_entropy(here[1] > 0)[1],
        "lost": float(np.mean(gates.fates(A @ basis.T, b, y @ basis.T) != gates.APART)),
        "back": spread(missed) / spread(y),
        "hidden": spread(here[2] - across[2]) / spread(here[2]),
        "answer": spread(here[4] - across[4]) / spread(here[4]),
    }


def spread(x: np.ndarray) -> float:
    return float(np.sqrt(((x - x.mean(0)) ** 2).sum(-1).mean()))


FILMS: dict[str, Callable[[], Film]] = {
    "spiral": lambda: plane(1, 2),
    "spiral_15": lambda: plane(1.5, 3, steps=8000),
    "octants": lambda: trained(Network(3, 3, 4, 1), octants(400, seed=0), steps=6000),
    "xor": lambda: trained(Network(2, 3, 1, 1), xor(120, noise=0.25, seed=0), seeds=8, steps=1000),
}
TABLES = {
    "ffn": filters,
    "majority": counting,
    "falling": falling,
    "labels": labels,
    "starts": starts,
    "digits": numerals,
    "unselectable": unselectable,
    "language": language,
    "drift": sliding,
    "depth": depth,
    "heads": heads,
    "soft_heads": soft_heads,
    "symmetrise": symmetrise,
    "norms": norms,
}


def write(name: str, film: Film, *, half: bool = False, words: str = "") -> None:
    data = to_npz(film, half=half)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.npz").write_bytes(data)
    best, solved = film.accuracy[film.best(), -1], int(film.solved().sum())
    print(f"{name}: accuracy {best:.3f}, {solved} of {film.seeds} pass 0.99, {len(data) >> 10} kB {words}")


def write_table(name: str, rows: list[dict[str, Any]]) -> None:
    """One row a line, so that a change is seen."""
    text = ",\n".join(json.dumps(row) for row in rows)
    (FOLDER / f"{name}.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join([*FILMS, *TABLES])}; all where none is given"
    )
    names = parser.parse_args().names or [*FILMS, *TABLES]
    if unknown := set(names) - {*FILMS, *TABLES}:
        parser.error(f"no film {', '.join(sorted(unknown))}: take of {', '.join([*FILMS, *TABLES])}")
    for name in names:
        start = perf_counter()
        if name in FILMS:
            write(name, FILMS[name]())
        else:
            TABLES[name]()
        print(f"  {name}: {perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
