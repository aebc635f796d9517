"""Run the modules of assets/ in a Node process, and compare their results with NumPy's.

A step may amplify rounding errors, for example when it normalises the difference of two nearly equal numbers.
So the tolerance of a comparison is computed step by step, as a bound of the differences that rounding alone
can cause. It is far below 1e-5 of a point's size unless a random case is ill-conditioned. In such a case,
too, a difference beyond the bound is an error.
"""

import base64
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np

from components.language.packing import packed
from geometry.pipeline import (
    Affine,
    Attention,
    Branches,
    Derivative,
    Flow,
    Normalize,
    Of,
    Orbit,
    Pipeline,
    Placed,
    Pointwise,
    Product,
    Softmax,
)
from tests.waiting import PATIENCE

RUNNER = Path(__file__).parent / "engine_runner.mjs"
# relative error of rounding a stage, and numbers computed from it, to float32: four times half a unit in the
# last place
ONE_ROUNDING = 2.0**-22
DOUBLE = 2.0**-48  # relative error of a dot product of a few numbers in float64
SINGLE = 2.0**-21  # the same in float32
PAST = 1e100  # stands for an infinite bound, but its square is finite
JUMPING = ("round", "reciprocal")  # functions with jumps or a pole
RISING = ("log10", "sqrt")  # increasing functions with unbounded slope
STEEPEST = 1.13  # slope of gelu and of erf, the largest of the pointwise functions


class Node:
    """A Node process with engine_runner.mjs, as a context manager: `node.ask("run", recipe=…, cases=…)`."""

    def __enter__(self):
        command = [shutil.which("node"), str(RUNNER)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.communicate(timeout=PATIENCE)

    def ask(self, call, **arguments):
        """Call an entry of `answers` (in engine_runner.mjs) with these arguments, and return its result.

        Raises AssertionError if this entry throws an error.
        """
        self.process.stdin.write(json.dumps({"call": call, **arguments}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        assert "error" not in reply, reply["error"]
        return reply["answer"]

    def run(self, recipe, cases, *, marks=()):
        """Run the browser's engine on a recipe; return a list with an answer to each case.

        A case is (params, progress) or (params, progress, followed); `followed`, the index of the followed
        point, is 0 if left out. An answer is a dict:

        "stages": {name of a cloud: list of its stages (n, d)}; None if the case before has the same params.
        "positions": {name of a cloud: its points (n, d) at `progress`}.
        "marks": for each of `marks`, a dict with its `points`, its `opacity` and its colour `values`. Points
        and values are base64 text, which `unpack` decodes.
        """
        cases = [dict(zip(("params", "progress", "followed"), (*case, 0)[:3], strict=True)) for case in cases]
        answers = self.ask("run", recipe=packed(recipe), cases=cases, marks=packed(marks))
        for answer in answers:
            for c in recipe.clouds:
                n = len(c.points)
                if answer["stages"]:
                    answer["stages"][c.name] = [unpack(s, n) for s in answer["stages"][c.name]]
                answer["positions"][c.name] = unpack(answer["positions"][c.name], n)
        return answers


def unpack(text, n):
    """Decode base64 text to an array (n, d) of float32; d follows from the text's length (0 if n = 0)."""
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(n, -1 if n else 0)


def as_sent(recipe):
    """The recipe with the points of all clouds in float32, as the browser gets them.

    A step that refers to another cloud (`Of`) gets the points of that cloud in float32, too.
    """
    sent = {}
    for c in recipe.clouds:
        place, pipeline = (
            Pipeline(tuple(_seeing(step, sent) for step in p.steps)) for p in (c.place, c.pipeline)
        )
        sent[c.name] = replace(c, points=c.points.astype(np.float32), place=place, pipeline=pipeline)
    return replace(recipe, clouds=tuple(sent.values()))


def _seeing(step, clouds):
    """A copy of a step in which each `Of` refers to the cloud of the same name in the dict `clouds`.

    Every cloud that the step reads must be in `clouds`. An `Of` is replaced only where it is the matrix of an
    `Affine`; this `Affine` may be inside `Branches`.
    """
    if isinstance(step, Branches):
        own = (Pipeline(tuple(_seeing(each, clouds) for each in b.steps)) for b in step.pipelines)
        return replace(step, pipelines=tuple(own))
    if isinstance(step, Affine) and isinstance(step.A, Of):
        return replace(step, A=replace(step.A, source=clouds[step.A.source.name]))
    return step


def stages_and_bounds(cloud, params, *, unit):
    """A list with a pair for each stage of a cloud: the points in float64, and a bound (n,) of their errors.

    The bound is for a computation that rounds with the relative error `unit`. The list is cached,
    because many clouds may refer to this cloud.
    """
    known, moment = cloud.__dict__.setdefault("bounds", {}), (unit, *sorted(params.items()))
    if moment not in known:
        known[moment] = _stages_and_bounds(cloud, params, unit)
    return known[moment]


def _stages_and_bounds(cloud, params, unit):
    x = cloud.points.astype(float)
    error = unit * length(x)
    x, error = through(cloud.place.steps, x, error, params, unit)
    out = [(x, error)]
    for step in cloud.pipeline.steps:
        out.append(through([step], *out[-1], params, unit))
    return out


def through(steps, x, error, params, unit):
    """Apply steps to x (n, d) in float64; return the result and a bound (n,) of its error.

    `error` (n,) is a bound of the error of x, and `unit` the relative error of rounding in the steps.
    """
    for step in steps:
        y = step.apply(x, params)
        x, error = y, _bound(step, x, y, error, params, unit)
    return x, error


def _bound(step, x, y, error, params, unit):
    if isinstance(step, Branches):
        return sum(through(branch.steps, x, error, params, unit)[1] for branch in step.pipelines)
    if isinstance(step, Placed):
        return unit * length(y)
    if isinstance(step, Softmax):
        return _sharpened(float(step.temperature.value(params)), x, error, step.causal) + unit
    if isinstance(step, Affine) and isinstance(step.A, Of):
        _, of = stages_and_bounds(step.A.source, params, unit=unit)[
            -1 if step.A.stage is None else step.A.stage
        ]
        A, b = np.linalg.norm(step.A.value(params)), largest(step.b, params) if step.b else 0.0
        return A * (error + unit * length(x)) + (np.linalg.norm(of) + ONE_ROUNDING * A) * length(x) + unit * b
    if isinstance(step, Affine):
        A, b = largest(step.A, params), largest(step.b, params) if step.b else 0.0
        return A * (error + unit * length(x)) + unit * b
    if isinstance(step, Pointwise) and step.function == "arcsin":
        return _steep(x, error + unit * length(x)) + unit * length(y)
    if isinstance(step, Pointwise) and step.function in JUMPING:
        return _risen(step, x, error + unit * (1 + length(x))) + unit * length(y)
    if isinstance(step, Pointwise) and step.function in RISING:
        return _risen(step, x, error + unit * length(x)) + unit * length(y)
    if isinstance(step, Pointwise) and step.function == "entr":
        return _curved(x, error + unit * length(x)) + unit * length(y)
    if isinstance(step, Product):
        return _multiplied(step, x, error) + unit * length(y)
    if isinstance(step, Pointwise):
        return STEEPEST * error + unit * (length(x) + length(y))
    if isinstance(step, Attention | Flow | Orbit):
        return _together(step, x, y, error + unit * (1 + length(x)), params) + unit * length(y)
    if isinstance(step, Derivative):
        return _differentiated(step, x, error + unit * length(x), params) + unit * length(y)
    groups = [range(x.shape[-1])] if step.groups is None else step.groups
    each = [_normalized(step, x[:, list(g)], error, params, unit) for g in groups]
    return error + np.sum(each, axis=0)


def _differentiated(step: Derivative, x, error, params):
    """A bound (n,) of the error of a derivative's results, if the points x have the errors `error` (n,).

    Each coordinate of a point in turn is changed by the point's error, down and up. The bound is the sum,
    over the coordinates, of the distance between the two results.
    """
    moves = error[:, None, None] * np.eye(x.shape[-1])
    ends = [step.apply(x[:, None] + sign * moves, params) for sign in (-1, 1)]
    return np.sum(length(ends[1] - ends[0]), axis=-1)


def _together(step: Attention | Flow | Orbit, x, y, error, params):
    """An estimate (n,) of the largest error of each result y of a step in which points affect one another.

    In four trials all inputs x are changed by their errors, with random signs. The estimate for a point is
    four times the largest change of its result in these trials.
    """
    rng = np.random.default_rng(0)
    ways = step.apply(x + error[:, None] * rng.choice([-1, 1], (4, *x.shape)), params)
    return 4 * np.max(length(ways - y), axis=0)


def _steep(x, error):
    """A bound (n,) of the error of arcsin at points x (n, d) whose coordinates have this `error` (n,).

    It is error/√(1 − m²), where m is the point's largest absolute coordinate plus the error, but at most
    π/2·√(2·error·d). The second limit is needed near ±1, where the slope is unbounded.
    """
    edge = np.max(np.abs(x), axis=-1, initial=0) + error
    slope = 1 / np.sqrt(np.maximum(1 - edge**2, 1e-300))
    return np.minimum(slope * error, np.pi / 2 * np.sqrt(2 * error * x.shape[-1]))


def _risen(step: Pointwise, x, error):
    """A bound (n,) of the error of a monotonic function of x: its change from x − error to x + error."""
    low, high = (step.apply(x + sign * error[:, None], {}) for sign in (-1, 1))
    return length(high - low)


def _curved(x, error):
    """A bound (n,) of the error of x ln x, which is steep near 0, at points x (n, d).

    It is √d·error·(2 + |ln(m + error)| + |ln error|), where m is the point's largest absolute coordinate.
    """
    far = np.max(np.abs(x), axis=-1, initial=0) + error
    logs = sum(np.abs(np.log(np.maximum(size, 1e-300))) for size in (far, error))
    return np.sqrt(x.shape[-1]) * error * (2 + logs)


def _multiplied(step: Product, x, error):
    """A bound (n,) of the error of the step's products, if each coordinate of x has this `error` (n,).

    For the product of some coordinates a, the bound is Π(|a| + error) − Π|a|, but at most PAST, which stands
    for infinity. If the step has several products, the result is √(the sum of the squares of their bounds).
    """
    moved = [
        np.prod(np.abs(x[:, list(g)]) + error[:, None], -1) - np.prod(np.abs(x[:, list(g)]), -1)
        for g in step.groups
    ]
    return length(np.minimum(np.stack(moved, -1), PAST))


def _sharpened(temperature, x, error, causal):
    """A bound (n,) of the error of a softmax with the temperature T over the coordinates of each point.

    It is error/T, but at most √2. At T = 0 it is 0 if the largest coordinate is larger than all others by
    more than twice the error; otherwise it is √2. If `causal`, only the first k coordinates of the k-th point
    count.
    """
    seen = np.where(np.tril(np.ones(x.shape, bool)) | (not causal), x, -np.inf)
    first, *others = np.sort(seen, axis=-1).T[::-1]
    second = others[0] if others else np.full_like(first, -np.inf)
    doubt = np.where(first - second <= 2 * error, np.sqrt(2), 0)
    return doubt if temperature == 0 else np.minimum(np.sqrt(2), error / temperature)


def _normalized(step: Normalize, v, error, params, unit):
    """A bound (n,) of the error of R·v/r, where v (n, k) are the coordinates of one group of each point.

    R is the step's radius, and r is |v|, enlarged by ε according to the step's convention. `error` (n,) is a
    bound of the length of v's error. The result is 2R·error/r, but at most 2R, plus R·unit for the rounding
    in this step.
    """
    eps, n = float(step.eps.value(params)), v.shape[-1]
    r = length(v) + eps * np.sqrt(n) if step.convention == "std" else 0.0
    if step.convention != "std":
        r = np.sqrt(length(v) ** 2 + eps * (n if step.convention == "pytorch" else 1))
    moved = np.minimum(2, 2 * _ratio(error, r))
    return largest(step.radius, params) * (moved + unit)


def _ratio(error, size):
    """error/size for each point. Where the size is 0, the result is 0 if the error is 0, and ∞ otherwise."""
    unknown = np.where(error > 0, np.inf, 0.0)
    return np.divide(error, size, out=unknown, where=size > 0)


def largest(entries, params):
    """An upper bound of the norm of entries: the sum of the norms of their base, terms and tracks.

    Each term is multiplied by its parameter. A track counts with its largest array. The norm of the entries
    themselves can be smaller, because base, terms and tracks may cancel, but their rounding errors do not.
    """
    size = np.linalg.norm(entries.base)
    size += sum(abs(params[name]) * np.linalg.norm(term) for name, term in entries.terms.items())
    return size + sum(
        max(np.linalg.norm(v) for v in np.asarray(t.values, float)) for t in entries.tracks.values()
    )


def bound_at(cloud, params, progress, *, unit, rounding):
    """A bound (n,) of the error that rounding can cause in the points of a cloud at `progress`.

    It is the sum of the point's bounds at the stages before and after `progress`, plus `rounding` times the
    larger of the point's lengths at these two stages. unit: the relative error of rounding in the steps.
    rounding: the relative error with which the result is rounded.
    """
    known = stages_and_bounds(cloud, params, unit=unit)
    progress = min(progress, len(known) - 1)
    k = min(int(progress), max(len(known) - 2, 0))
    (a, ea), (b, eb) = known[k], known[min(k + 1, len(known) - 1)]
    size = np.maximum(length(a), length(b))
    return ea + eb + rounding * size


def length(x):
    return np.linalg.norm(x, axis=-1)


def farthest(got, want, allowed):
    """The largest ratio of a point's error to the point's tolerance: the maximum of |got − want|/allowed.

    `got` and `want` are points (n, d), and `allowed` (n,) are the tolerances. The result is infinite if a
    number in `got` is not finite, and 0 if n = 0.
    """
    if not np.isfinite(got).all():
        return np.inf
    return float(np.max(_ratio(length(np.asarray(got, float) - want), allowed), initial=0))


def assert_agrees(recipe, params, progress, answer):
    """Assert that the engine's stages and positions equal NumPy's, up to rounding.

    The tolerance is the bound for float64, plus one rounding to float32. `answer` is what `Node.run` returns
    for one case.
    """
    at = recipe.positions(params, progress)
    for c in recipe.clouds:
        known = stages_and_bounds(c, params, unit=DOUBLE)
        if answer["stages"]:  # None means those of the case before
            assert len(known) == len(answer["stages"][c.name])
            for k, (got, (x, error)) in enumerate(zip(answer["stages"][c.name], known, strict=True)):
                assert farthest(got, x, error + ONE_ROUNDING * length(x)) <= 1, (c.name, f"stage {k}")
        bound = bound_at(c, params, progress, unit=DOUBLE, rounding=ONE_ROUNDING)
        assert farthest(answer["positions"][c.name], at[c.name], bound) <= 1, (c.name, f"progress {progress}")
