"""Write the result of comparing two checkpoints as files: JSON for programs, text for people."""

from __future__ import annotations

import json
import math
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Any

from learning.convert.certificate import Certificate, Difference
from learning.convert.planning import NO_AFFINE_REASON

LINE_CHARACTERS = 100
COST_TITLE = "change if its centring is dropped"
ROUNDING_TITLES = {
    "other_precision": "rounding: precision",
    "other_batch": "rounding: batch",
    "stored_weights": "rounding: weights",
}


def save(certificate: Certificate, folder: Path) -> None:
    """Write a certificate to `folder` as certificate.json and certificate.txt."""
    (folder / "certificate.json").write_text(to_json(certificate) + "\n", encoding="utf-8")
    (folder / "certificate.txt").write_text(text(certificate) + "\n", encoding="utf-8")


def to_json(certificate: Certificate) -> str:
    return json.dumps(_finite(asdict(certificate)), indent=2)


def _finite(found: Any) -> Any:
    """A copy of nested dicts and lists, in which infinities and NaN, which JSON lacks, become None."""
    if isinstance(found, dict):
        return {name: _finite(each) for name, each in found.items()}
    if isinstance(found, list):
        return [_finite(each) for each in found]
    return None if isinstance(found, float) and not math.isfinite(found) else found


def text(certificate: Certificate) -> str:
    """The certificate as a text page: verdict, files, differences in each precision, norms, and costs.

    The cost of a normalisation layer whose centring cannot be folded says how much the outputs change without
    this centring (`cost.costs`).
    """
    lines = [f"{certificate.verdict}: {certificate.reason}", ""]
    for title, one in (("original", certificate.original), ("converted", certificate.converted)):
        lines.append(f"{title:10} {one['name']} ({one['architecture']})")
        lines += [f"{'':10} sha256 {digest}  {name}" for name, digest in one["sha256"].items()]
    read = ", ".join(f"{name} {value}" for name, value in certificate.read.items())
    lines += [f"{'read':10} {read}", "", *_precisions(certificate)]
    if certificate.norms:
        lines += ["", *_norms(certificate.norms)]
    if certificate.cost:
        lines += ["", *_cost(certificate.cost)]
    return "\n".join(lines)


def _precisions(certificate: Certificate) -> list[str]:
    same = "same class" if certificate.original["architecture"].endswith("Classification") else "same token"
    columns = f"{'largest':>10}{'KL, nats':>12}{same:>12}{'loss before':>13}{'loss after':>12}"
    lines = [f"{'difference of outputs':32}{columns}"]
    if certificate.fold:
        lines.append(_row("float64, before rounding", certificate.fold))
    for name, each in certificate.precisions.items():
        lines.append(_row(name, each.difference, each.loss_before, each.loss_after))
        lines += [_row(f"  {ROUNDING_TITLES[kind]}", other) for kind, other in each.rounding.items()]
    return lines


def _row(title: str, found: Difference, before: float | None = None, after: float | None = None) -> str:
    same = None if found.same_choice is None else 100 * found.same_choice
    numbers = f"{_short(found.largest, '.2g'):>10}{_short(found.kl, '.2g'):>12}"
    numbers += f"{_short(same, '.2f', ' %'):>12}{_short(before, '.5f'):>13}{_short(after, '.5f'):>12}"
    return f"{title:32}{numbers}".rstrip()


def _short(number: float | None, how: str, unit: str = "") -> str:
    return "" if number is None or math.isnan(number) else f"{number:{how}}{unit}"


def _norms(norms: list[dict[str, Any]]) -> list[str]:
    wide = max(len(norm["name"]) for norm in norms)
    lines = [_folded(norms), "", f"{'norm':{wide}}  centring  γ and β"]
    for norm in norms:
        parts = {"centring": norm["centring"], "γ and β": norm["affine"]}
        if norm["kind"] == "RMSNorm":
            parts["centring"] = {"verdict": "–"}
        if norm["affine"]["reason"] == NO_AFFINE_REASON:
            parts["γ and β"] = {"verdict": "–"}
        verdicts = [part["verdict"] for part in parts.values()]
        lines.append(f"{norm['name']:{wide}}  {verdicts[0]:8}  {verdicts[1]}")
        for title, part in parts.items():
            if part["verdict"] in ("no", "unknown"):
                reason = f"{title}: {part['reason']}"
                lines += textwrap.wrap(
                    reason, LINE_CHARACTERS, initial_indent="    ", subsequent_indent="      "
                )
    return lines


def _folded(norms: list[dict[str, Any]]) -> str:
    """One line of text: in how many norms γ and β are folded, and in how many the centring is folded."""
    affine = [norm["affine"] for norm in norms if norm["affine"]["reason"] != NO_AFFINE_REASON]
    centring = [norm["centring"] for norm in norms if norm["kind"] != "RMSNorm"]
    parts = ("γ and β" if centring else "γ", affine), ("centring", centring)
    counts = [
        f"{name} of {sum(each['verdict'] == 'yes' for each in answers)} of {len(answers)} norms"
        for name, answers in parts
        if answers
    ]
    rest = "" if centring else "; an RMSNorm has no β and no centring"
    return f"folded: {', '.join(counts)}{rest}"


def _cost(costs: list[dict[str, Any]]) -> list[str]:
    wide = max(len(COST_TITLE), *(len(cost["norm"]) for cost in costs))
    lines = [f"{COST_TITLE:{wide}}{'KL, nats':>12}{'loss':>12}{'output':>12}"]
    for cost in costs:
        numbers = f"{_short(cost['kl'], '.3g'):>12}{_short(cost['loss'], '+.4f'):>12}"
        lines.append(f"{cost['norm']:{wide}}{numbers}{100 * cost['change']:>10.2g} %")
    return lines
