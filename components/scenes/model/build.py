"""The recipe of a recorded model: statistics of all its norms, and the input vectors of one norm in space.

A norm is a normalisation layer, such as LayerNorm. Each statistic is a curve over the norms by depth, in a
strip of its own.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row
from components.language.marks import Followed
from components.language.recipe import Facts, Number, Overview, Recipe, View
from components.language.scene import Choices, File, Stored, WrongValue
from components.scenes.model import strips
from components.scenes.model.picture import as_second, numbers, picture
from components.scenes.model.strips import named
from components.scenes.scenery import split
from learning.recording import analysis
from learning.recording.digest import Digest, Reduced, from_digest
from learning.recording.messages import multiple
from learning.recording.report import file_name, formatted, summary_columns, to_csv
from learning.recording.verdict import TOO_FEW, verdict

SHIPPED = {
    "smollm2": "SmolLM2-135M-Instruct",
    "minilm": "all-MiniLM-L6-v2",
    "antiberty": "AntiBERTy",
    "rxnmapper": "ALBERT of rxnmapper",
    "trained": "a small GPT, trained",
    "start": "a small GPT, before training",
}
BESIDE = SHIPPED
COLOURS = {"position": "position", "kind": "kind of token", "length": "length ÷ median", "token": "token"}
MASSIVE = {"shown": "shown", "out": "left out"}
PHONE_ROWS = 2  # `View.rows` for each strip, so that the labels of its axis have room on a phone


def files(choices: Choices) -> tuple[File | Stored, ...]:
    """The files of the chosen recording and, if the reader compares two recordings, of the second one."""
    first = _file("own", choices["own"], choices["recording"])
    if choices["beside"] == "none" and not choices["other"]:
        return (first,)
    return first, _file("other", choices["other"], choices["beside"])


def _file(choice: str, key: str, name: str) -> File | Stored:
    return Stored(choice, key, from_digest) if key else File(f"norms_{name}.safetensors", from_digest)


def build(choices: Choices, first: Digest, second: Digest | None = None) -> Recipe:
    k = index(choices["norm"], first)
    if second and named(second) == named(first):  # such as a model before and after it was converted
        second = replace(second, name=f"{named(second)[: strips.NAME_CHARACTERS - 9]} (second)")
    pairs = [(first, k), *([(second, same_depth(k, first, second))] if second else [])]
    centring = any(one.norms[number].centres for one, number in pairs)
    look: dict[str, Any] = {
        "leave_out": choices["massive"] == "out",
        "centring": centring,
        "alone": not second,
    }
    main, *others = [picture(one, number, choices["colour"], **look) for one, number in pairs]
    pictures = [main, *map(as_second, others)]
    depth, strip_clouds = strips_view(first, second, k, choices["strips"])
    return Recipe(
        stages=("x", *(("centre",) if centring else ()), "sphere", "⊙ γ", "+ β"),
        parameters=(),
        clouds=(*(cloud for each in pictures for cloud in each.clouds), numbers(main.norm), *strip_clouds),
        views=(main.view, depth, *(each.view for each in pictures[1:])),
        formula=formula(main.norm, stage=1 + centring),
        readouts=tuple(
            Number(label, "numbers", Row(tuple(np.eye(4)[i])), Followed(), unit=unit_, digits=digits)
            for i, label, unit_, digits in [
                (2, "Energy along 𝟏 of the red vector", " %", 2),
                (0, "Position of the red vector", "", 0),
                (1, "σ of the red vector", "", 3),
                (3, "ε as a share of its σ² + ε", " %", 4),
            ]
        ),
        facts=facts(pairs),
        overviews=(overview(first, summary(first), choice="norm"), *([overview(second)] if second else [])),
    )


def index(number: int, first: Digest) -> int:
    """The index (from 0) of the norm with this number (from 1) in the recording `first`.

    Raises `WrongValue` if there is no such norm.
    """
    count = len(first.norms)
    if not 1 <= number <= count:
        words = f"norm={number} is outside 1 … {count}, the norms of this recording"
        raise WrongValue("norm", words, {"min": 1, "max": count, "whole": True})
    return number - 1


def strips_view(
    first: Digest, second: Digest | None, chosen: int, strip_set: str
) -> tuple[View, tuple[Cloud, ...]]:
    """View of the statistics in strips.SETS[strip_set] over all norms, and its clouds.

    Each strip shows one statistic of the recording `first`, and also of `second` unless that is None.
    `chosen` is the index of a norm of `first`, which is marked.
    """
    clouds, layers = split(*strips.panel(first, second, chosen, strip_set))
    title = f"All norms of {'both' if second else named(first)}, from the first to the last"
    count = len(strips.SETS[strip_set])
    ranges, rows = strips.ranges(count), PHONE_ROWS * count
    return View("depth", title, layers, ranges, dims=2, equal=False, rows=rows), clouds


def same_depth(k: int, first: Digest, second: Digest) -> int:
    """The index of the norm of `second` at the same relative depth as norm k of `first`.

    The relative depth is about k/n for norm k of n.
    """
    return int((k + 0.5) / len(first.rows) * len(second.rows))


# --- in words


def facts(pairs: Sequence[tuple[Digest, int]]) -> Facts:
    """Table with a column for each recording: the verdict on all its norms, then the numbers of one norm.

    `pairs` has each recording with the index of the norm whose numbers are shown.
    """
    both = [one for one, _ in pairs]
    asked = verdict(both[0].rows)
    found = [[each.answer for each in verdict(one.rows)] for one in both]
    numbers = [column for column in analysis.COLUMNS if len(pairs) > 1 or column.name != "path"]
    lines = [[each.question, *answers] for each, *answers in zip(asked, *found, strict=True)]
    lines += [
        [column.label, *[formatted(column, one.rows[k][column.name]) for one, k in pairs]]
        for column in numbers
    ]
    abouts = [each.about for each in asked] + [each.about for each in numbers]
    path = pairs[0][0].rows[pairs[0][1]]["path"]
    what = path if len(pairs) == 1 else "the norms in the pictures"
    title = f"The verdict over all norms, and the numbers of {what}"
    return Facts(title, ["", *map(named, both)], lines, abouts)


def overview(digest: Digest, lines: Sequence[str] = (), choice: str = "") -> Overview:
    """The overview beside the figure: the given `lines`, and a table of all norms.

    A click on a row of the table sets the choice named `choice`, unless this is "".
    """
    shown = summary_columns(digest.rows)
    name, *others = shown
    return Overview(
        lines=lines,
        title=f"All norms of {named(digest)}",
        columns=["norm, in the order of depth", *[column.label for column in others]],
        rows=[
            [
                f"{k}: {formatted(name, row[name.name])}",
                *[formatted(column, row[column.name]) for column in others],
            ]
            for k, row in enumerate(digest.rows, 1)
        ],
        abouts=[column.about for column in shown],
        csv=to_csv(digest.rows),
        file=file_name(digest.name, "csv"),
        choice=choice,
    )


def summary(first: Digest) -> list[str]:
    """Lines of text: the model, its massive vectors, its centring, and whether its centring can be folded.

    To fold centring is to merge it exactly into the weights before the norm. If the recording has a notice,
    this is one more line.
    """
    all_rows = first.rows
    paths = [row["path"] for row in all_rows]
    counts = Counter(row["kind"] for row in all_rows)
    kinds = " and ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in sorted(counts.items()))
    layers = len(set(strips.layers(paths)) - {""})
    widths = " or ".join(f"{d:,}" for d in sorted({row["d"] for row in all_rows}))
    depth = f" in {layers} layer{'s' * (layers > 1)}" if layers else ""
    lines = [
        f"{named(first)}: {kinds}{depth}, of vectors with {widths} coordinates.",
        _massive_line(first, paths),
        _centring_line(all_rows),
        _folding_line(all_rows),
        *filter(None, [first.notice]),
    ]
    return [line.replace("`", "") for line in lines]


def _massive_line(first: Digest, paths: Sequence[str]) -> str:
    few = [k for k, row in enumerate(first.rows) if row["massive"]]
    if not few:
        longest = max(row["longest"] or 0.0 for row in first.rows)
        return f"Massive vectors: none. The longest is {multiple(longest)} as long as the median of its norm."
    k = max(few, key=lambda k: first.rows[k]["longest"])
    row, name = first.rows[k], strips.short_names(paths)[k]
    writer = f", mostly written by {row['outlier_writer']}" if row["outlier_writer"] else ""
    together = re.sub(r" at (\d+)(?=, [^,]* at \1(?!\d))", "", row["longest_at"])  # name each position once
    tokens = re.sub(r" at (?=\d)", " at position ", re.sub(r", \d+ others?$", "", together))
    among = "among them " if together.endswith(("other", "others")) else ""
    count = f"{row['massive']} vector{'s' * (row['massive'] > 1)}"
    return (
        f"Massive vectors: in {len(few)} of {len(paths)} norms. The longest are in {name}: {count} of up to "
        f"{row['longest']:.3g} times the median length, {among}{tokens}. Dimension {row['top_dimension']} "
        f"holds {row['top_energy']:.1%} of the energy (sum of squares) of all vectors{writer}."
    )


def _centring_line(every: Sequence[analysis.TableRow]) -> str:
    found = next(each for each in verdict(every) if each.name == "turn_median")
    if found.answer.startswith(TOO_FEW):
        return f"{found.answer[:1].upper()}{found.answer[1:]}."
    centres = any(row["kind"] != "RMSNorm" for row in every)
    times = np.median([row["turn_scaled"] for row in every if not centres or row["kind"] != "RMSNorm"])
    verb = "Centring turns" if centres else "There is no centring; it would turn"
    angle = f"{verb} the direction of outputs by {found.value:.2f}° (median)."
    return f"{angle} This is {multiple(float(times), 2)} the turn of random vectors."


def _folding_line(every: Sequence[analysis.TableRow]) -> str:
    asked = [row for row in every if row["kind"] != "RMSNorm"]
    if not asked:
        return "Folding: no norm centres; normscape convert folds γ into the weights after it, where exact."
    yes, unknown = ([row["folds"] for row in asked].count(each) for each in ("yes", "unknown"))
    if unknown == len(asked):
        return "Folding: unknown, because the model was not traced."
    how = "; normscape convert does it and checks the result" if yes else ""
    folded = f"the centring of {yes} of {len(asked)} norms folds exactly into the weights before it"
    return f"Folding: {folded}{how}."


def formula(norm: Reduced, *, stage: int) -> str:
    """LaTeX of a norm. `stage` is the stage at which vectors reach the sphere.

    "+ β" is left out if the norm neither centres nor has a shift, as is usual for RMSNorm.
    """
    over = r"\class{stage-1 role-hyperplane}{x - \mu 𝟏}" if norm.centres else "x"
    square = r"\sigma^2" if norm.centres else r"\mathrm{mean}(x^2)"
    below = rf"\sqrt{{{square} + \varepsilon}}"
    unit = rf"\class{{stage-{stage} role-sphere}}{{\frac{{{over}}}{{{below}}}}}"
    gain = rf"\class{{stage-{stage + 1} role-ellipsoid}}{{\gamma \odot}}"
    shift = rf" \class{{stage-{stage + 2} role-shift}}{{+ \beta}}" if norm.centres or norm.shift.any() else ""
    return rf"y = {gain} {unit}{shift}"
