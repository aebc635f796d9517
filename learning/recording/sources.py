"""Columns of a report: which kinds of modules write the mean and the top dimension of a norm's input.

The top dimension is the one with most energy, the sum of the squares of its coordinates. A residual stream is
the sum of the embedding and the outputs of attention and MLPs. So the mean of a norm's input is the sum of
these summands' means, and each summand contributes a share. The same holds for each coordinate of the input.
A share is negative where the summand reduces the sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from learning.file_error import FileError
from learning.recording.column import Column

KINDS = ("embedding", "attention", "MLP", "norm")
MAX_MODULE_CHARACTERS = 200
DEFINED = (
    "of the first call of the model that was recorded: embedding, attention, MLP (a layer that does not "
    "attend), or norm (the output of an earlier norm, of post-LN models)"
)
COLUMNS = (
    Column(
        "mean_from",
        "mean written by",
        "The share of each kind of module in the means μ of the vectors, Σ μₖμ/Σ μ², where μₖ is the mean of "
        f"its summand, {DEFINED}. Negative where summands cancel; together 100%.",
        "",
    ),
    Column("mean_writer", "mean, main module", "The module with the largest share in the means.", ""),
    Column("mean_written", "mean, its share", "The share of that module in the means.", ".1%"),
    Column(
        "outlier_from",
        "top dimension written by",
        "The share of each kind of module in the top dimension of the longest vector of that call.",
        "",
    ),
    Column("outlier_writer", "top dimension, main module", "The module with the largest share in it.", ""),
    Column("outlier_written", "top dimension, its share", "The share of that module in that number.", ".1%"),
)


@dataclass(frozen=True)
class Sources:
    """The contributions of modules to a number: the share of each kind of module, and the largest share.

    Shares can be negative. `module` is the name of the module whose share is the largest in absolute value,
    and `share` is this share. Raises FileError for invalid fields.
    """

    shares: Mapping[str, float]
    module: str
    share: float

    def __post_init__(self) -> None:
        if not isinstance(self.shares, Mapping) or not set(self.shares) <= set(KINDS):
            raise FileError("the sources of a norm's input are of unknown kinds")
        numbers = (*self.shares.values(), self.share)
        if not all(type(each) in (int, float) and isfinite(each) for each in numbers):
            raise FileError("the sources of a norm's input have shares that are no numbers")
        named = isinstance(self.module, str) and len(self.module) <= MAX_MODULE_CHARACTERS
        if not (named and self.module.isprintable()):
            raise FileError("the source of a norm's input has a name that is no line of text")

    @property
    def text(self) -> str:
        """The share of each kind of module as text, ordered by absolute value: "MLP 107%, attention -7%".

        The largest comes first.
        """
        ordered = sorted(self.shares.items(), key=lambda each: -abs(each[1]))
        return ", ".join(f"{kind} {share:.0%}" for kind, share in ordered)


def columns(mean: Sources | None, outlier: Sources | None) -> dict[str, Any]:
    """For each name in COLUMNS, its value for one norm.

    `mean` and `outlier` are the sources of the input's mean and of its dimension with most energy (sum of
    squares). If one of them is None, its columns are left out.
    """
    found: dict[str, Any] = {}
    for name, each in (("mean", mean), ("outlier", outlier)):
        if each is not None:
            found |= {f"{name}_from": each.text, f"{name}_writer": each.module, f"{name}_written": each.share}
    return found
