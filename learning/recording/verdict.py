"""The summary in a report: seven questions about a model's norms, answered from the report's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learning.recording.analysis import ISOTROPIC_SHARE_D, MAX_SAMPLED_KEYS, TableRow
from learning.recording.massive import MASSIVE_LENGTH_RATIO
from learning.recording.messages import multiple, with_noun
from learning.recording.recording import NORM_KINDS

MIN_VECTORS = 20  # with fewer vectors, the 95th percentile is practically the maximum
TOO_FEW = "no verdict: "  # begins the answer to a question about vectors if all norms have fewer
MAX_REASONS = 2  # reasons that an answer gives why a centring cannot be folded
ROUNDING = 1e-10  # a smaller share of energy counts as zero


@dataclass(frozen=True)
class Finding:
    """A question of the summary, such as "Is the mean zero before the norm?", with its answer.

    name: a key for programs. value: the number on which the answer is based, if there are enough vectors.
    about: a text that defines this number, or the things that it counts.
    """

    name: str
    question: str
    answer: str
    value: float
    about: str


def verdict(rows: Sequence[TableRow], together: Any = None) -> list[Finding]:
    """Answer the questions of the summary from the rows of a report, one row per normalisation layer.

    `together` is the `Effect` of toggling the centring of all norms at once; None if it was not measured.
    If no norm has at least MIN_VECTORS vectors, answers that depend on vectors say that these are too few.
    """
    found = _answered(rows, together)
    most = max(row["vectors"] for row in rows)
    if most >= MIN_VECTORS:
        return found
    is_measured = any(row.get("change") is not None for row in rows)
    known = {"folds", "effect"} if is_measured else {"folds"}
    few = f"{TOO_FEW}the norms have at most {most} vector{'s' * (most != 1)}, and {MIN_VECTORS} are needed; "
    few += "record a longer text"
    return [each if each.name in known else replace(each, answer=few) for each in found]


def _answered(rows: Sequence[TableRow], together: Any) -> list[Finding]:
    centre = [row for row in rows if row["kind"] != NORM_KINDS["rms_norm"]]
    asked, n = centre or rows, len(rows)
    level = sum(row["share_high"] < ROUNDING for row in rows)
    most = max(rows, key=lambda row: row["eps_high"])
    return [
        _effect(asked, centre=bool(centre), together=together),
        _turn(asked, centre=bool(centre)),
        _folds(centre),
        Finding(
            "level",
            "Is the mean zero before the norm?",
            f"in {level} of {n} norms",
            level / n,
            "A norm counts if 95 % of its vectors have less than 1e-10 of their energy along 𝟏: for these "
            "LayerNorm is nearly RMSNorm.",
        ),
        Finding(
            "eps",
            "How much does ε matter?",
            f"at most {most['eps_high']:.2g} of the squared divisor (95th percentile of a norm), at "
            f"{most['path']}",
            float(most["eps_high"]),
            "The largest 95th percentile of ε/(σ² + ε) of a norm. A share w shrinks outputs, "
            "before β, by 1 − √(1 − w): by about half of w where it is small.",
        ),
        _massive(rows),
        _keys(rows),
    ]


def _turn(asked: Sequence[TableRow], *, centre: bool) -> Finding:
    """Finding: by what angle centring turns the outputs of the norms in `asked`.

    `centre` says whether these norms centre. If not, the angle is the one by which centring would turn them.
    """
    turns, high, scaled = ([row[name] for row in asked] for name in ("turn", "turn_high", "turn_scaled"))
    would, times = "" if centre else "centring would: ", multiple(float(np.median(scaled)), 2)
    return Finding(
        "turn_median",
        "By how much does centring turn outputs?",
        f"{would}median {np.median(turns):.2f}°, {times} as much as for random "
        f"vectors without γ and β, at most {max(high):.1f}° (95th percentile of a norm)",
        float(np.median(turns)),
        "The median over these norms of the median over vectors, and of its multiple of the angle "
        "between isotropic vectors and the hyperplane; the largest 95th percentile of a norm. How "
        "much this changes the model's predictions is another question.",
    )


def _folds(centre: Sequence[TableRow]) -> Finding:
    """Finding: in how many norms the centring can be folded into neighbouring layers.

    `centre` has the rows of the norms that centre; it may be empty.
    """
    folds, unknown = ([row["folds"] for row in centre].count(each) for each in ("yes", "unknown"))
    return Finding(
        "folds",
        "Could it be folded into the weights exactly?",
        f"in {folds} of {len(centre)} norms that centre"
        + (f"; of {unknown} it is not known" if unknown else "")
        + _refused(centre)
        if centre
        else "there is no centring",
        folds / max(len(centre), 1),
        "A centring folds if only Linears, embeddings and parameters write the norm's input, and only "
        "norms that centre read it. Without the means of these weights LayerNorm equals RMSNorm, "
        "exactly (scene absorb). Each yes was checked: a folded copy of the model gave the same "
        "outputs. `normscape convert` folds them.",
    )


def _refused(centre: Sequence[TableRow]) -> str:
    """The reasons why the centring of some norms cannot be folded; "" if there are no such norms.

    Each reason is given once, but no more than MAX_REASONS. centre: the rows of the norms that centre.
    """
    paths: dict[str, list[str]] = {}
    for row in centre:
        if row["folds"] == "no":
            paths.setdefault(row["why"], []).append(row["path"])
    reasons = list(paths.items())
    parts = []
    for why, (first, *more) in reasons[:MAX_REASONS]:
        others = f" and {with_noun(len(more), 'other')}" if more else ""
        parts.append(f"; not in {first}{others}: {why}")
    if rest := sum(len(some) for _, some in reasons[MAX_REASONS:]):
        parts.append(f"; nor in {with_noun(rest, 'other')} (their reasons are in the CSV and JSON)")
    return "".join(parts)


def _keys(rows: Sequence[TableRow]) -> Finding:
    """Finding: how many attention keys no query could select, before the norms and after them.

    rows: those of the report. For each norm, a sample of its input vectors is one set of keys.
    """
    sets = sum(row["keys"] for row in rows)
    before, after = (sum(row[name] for row in rows) for name in ("lost_before", "lost_after"))
    return Finding(
        "keys",
        "How many keys could never be chosen?",
        f"{before} of {sets} before the norms, {after} after; equal keys, as of a repeated token, count",
        before / sets,
        f"For each norm up to {MAX_SAMPLED_KEYS} vectors are taken as one set of keys. A key that is an "
        "average of others never has a higher score than all of them. In many dimensions few keys are.",
    )


def _massive(rows: Sequence[TableRow]) -> Finding:
    """Finding: how many norms read massive activations (far longer vectors than the rest)."""
    question, few = "Are there massive activations?", [row for row in rows if row["massive"]]
    largest = max((row["longest"] or 0.0 for row in rows), default=0.0)
    answer = f"no: the longest vector is {multiple(largest)} as long as the median of its norm"
    if few:
        most = max(few, key=lambda row: row["longest"])
        answer = (
            f"in {len(few)} of {len(rows)} norms; at {most['path']} {most['massive']} of {most['vectors']:,} "
            f"vectors are up to {most['longest']:.3g} times as long as the median ({most['longest_at']}), "
            f"and dimension {most['top_dimension']} has {most['top_energy']:.1%} of all energy, "
            f"{most['top_energy_rest']:.1%} without them"
        )
        if most["outlier_from"]:
            answer += (
                f"; of this coordinate in the first text's longest vector, {most['outlier_writer']} writes "
                f"{most['outlier_written']:.0%}"
            )
    elif any(row["longest"] is None for row in rows):
        answer = "not known: this recording is older"
    about = (
        f"A vector is massive if it is longer than {MASSIVE_LENGTH_RATIO} times the median length. The "
        "effective rank is without these; the column beside it is with them."
    )
    return Finding("massive", question, answer, len(few) / len(rows), about)


def _effect(asked: Sequence[TableRow], *, centre: bool, together: Any) -> Finding:
    """Finding: how much the model's predictions or outputs change if its norms stop or start to centre.

    `centre` says whether the norms in `asked` centre. If they do, the question is whether centring could be
    left out; if not, whether adding it would matter. If no effect was measured, the answer counts the norms
    whose vectors have less energy along 𝟏 than random vectors. `together` is the `Effect` for all norms at
    once; None if it was not measured.
    """
    question = "Could the centring be left out?"
    told = [(row["kl"], row["path"]) for row in asked if row.get("kl") is not None]
    moved = [(row["change"], row["path"]) for row in asked if row.get("change") is not None]
    if found := told or moved:
        unit = "{:.2g} nats" if told else "{:.1%} of the outputs' length"
        (largest, path), middle = max(found), float(np.median([each for each, _ in found]))
        each = f"{unit.format(middle)} in the median norm, at most {unit.format(largest)} (at {path})"
        each = f"a KL of {each}" if told else each
        every = "" if together is None else together.kl if told else together.change
        whole = f", {unit.format(every)} in all at once" if every != "" else ""
        whole += f"; measured on {together.predictions:,} tokens" if together else ""
        begin = (
            "without it predictions change by"
            if centre
            else "this model has RMSNorms, which do not centre; adding it changes predictions by"
        )
        about = (
            "The effect of changing one norm, or all, without training again: the columns KL and Δ outputs."
        )
        return Finding("effect", question, f"{begin} {each}{whole}", middle, about)
    few = sum(row["share_d"] < ISOTROPIC_SHARE_D for row in asked)
    answer = f"in {few} of {len(asked)} norms the mean is smaller than that of random vectors"
    return Finding(
        "effect",
        question,
        answer if centre else f"there is none: this model has RMSNorms only; {answer}",
        few / len(asked),
        f"A norm counts whose energy along 𝟏, times d, is below {ISOTROPIC_SHARE_D}, the median of isotropic "
        "vectors. The effect on the model's predictions is measured by `normscape report --model`.",
    )
