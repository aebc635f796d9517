"""Validation of recipes. An error message is one line: which part, what is wrong, what would be right.

Marks, selections, hands (what a click does) and readouts have a method `check` that validates their fields.
"""

from __future__ import annotations

import re
from html import unescape

import numpy as np

from components.language.cloud import Cloud
from components.language.recipe import COLUMNS, Recipe, View
from components.language.refusal import check_finite, check_known, check_length, check_unique, refuse
from components.language.scope import MAX_SEEN_POINTS, Scope
from components.language.text import formula
from components.theme import ROLES

TEX_COMMAND = re.compile(r"\\[a-zA-Z]+")  # in the converter's output: an unknown command, left as text
MATHML_LETTER = re.compile(r"<mi>([^<]+)</mi>")
TEX_CLASS = re.compile(r"\\class\{([^}]*)\}")


def check(recipe: Recipe) -> None:
    """Validate a recipe. Raises WrongRecipe for the first error found."""
    _stages(recipe)
    _parameters(recipe)
    names = check_unique("cloud", [c.name for c in recipe.clouds])
    for cloud in recipe.clouds:
        _cloud(cloud, recipe)
    check_unique("view", [v.name for v in recipe.views])
    for view in recipe.views:
        _view(view, recipe, names)
    for readout in recipe.readouts:
        readout.check(_scope(f"readout {readout.label!r}", recipe))
    _table(recipe, names)
    _formula(recipe)


def _scope(where: str, recipe: Recipe, dims: int = 0) -> Scope:
    """The checker of references (`Scope`) for a mark or readout of a recipe.

    where: the beginning of its error messages, which names the mark or readout. dims: the dimension of the
    view, for a mark; 0 for a readout.
    """
    clock = next(((p.min, p.max) for p in recipe.parameters if p.name == recipe.clock), None)
    return Scope(where, recipe.clouds, recipe.defaults, len(recipe.stages), dims, clock)


def _stages(recipe: Recipe) -> None:
    if not recipe.stages or not recipe.views or not recipe.clouds:
        refuse("recipe", "it has no stages, clouds or views", "give at least one of each")
    last, reached = len(recipe.stages) - 1, max(len(c.pipeline.steps) for c in recipe.clouds)
    if reached < last:
        refuse(
            "stages", f"no cloud has more than {reached} steps", f"give {reached + 1} names, not {last + 1}"
        )
    if not 0 <= recipe.progress <= last:
        refuse("progress", f"{recipe.progress} is outside its range", f"take 0 to {last}")
    points = len((_table_cloud(recipe, recipe.table.cloud) if recipe.table else recipe.clouds[0]).points)
    if not 0 <= recipe.follow < max(points, 1):
        refuse("follow", f"there is no point {recipe.follow}", f"take 0 to {points - 1}")


def _table_cloud(recipe: Recipe, name: str) -> Cloud:
    """The cloud called `name`, which the recipe's table shows. Raises WrongRecipe if there is none."""
    check_known("table", "cloud", name, [c.name for c in recipe.clouds])
    return recipe.cloud(name)


def _parameters(recipe: Recipe) -> None:
    names = check_unique("parameter", [p.name for p in recipe.parameters])
    for p in recipe.parameters:
        where = f"parameter {p.name!r}"
        check_finite(where, (p.value, p.min, p.max, p.step))
        check_known(where, "scale", p.scale, ("linear", "log"))
        if not (p.min < p.max and p.step > 0 and (p.scale == "linear" or p.min > 0)):
            refuse(
                where,
                f"from {p.min} to {p.max} by {p.step} is not a slider",
                "take min < max and step > 0, and min > 0 for a logarithmic one",
            )
        if not (p.min <= p.value <= p.max or (p.scale == "log" and p.value == 0)):
            refuse(where, f"its value {p.value} is outside its range", f"take {p.min} to {p.max}")
    if recipe.clock:
        check_known("clock", "parameter", recipe.clock, names)


def _cloud(cloud: Cloud, recipe: Recipe) -> None:
    where = f"cloud {cloud.name!r}"
    if cloud.points.ndim != 2:
        refuse(where, f"its points have the shape {cloud.points.shape}", "take (N, d)")
    if not np.isfinite(cloud.points).all():
        refuse(where, "a point is not finite", "take finite numbers")
    for name in sorted(cloud.parameters):
        check_known(where, "parameter", name, recipe.defaults)
    try:
        cloud.widths  # noqa: B018
    except ValueError as wrong:
        refuse(where, str(wrong), "take as many coordinates as the step before returns")
    _sources(where, cloud, recipe)
    n = len(cloud.points)
    if cloud.labels is not None:
        check_length(where, "labels", cloud.labels, n, "point")
    if cloud.pictures is not None:
        check_length(where, "pictures", cloud.pictures, n, "point")


def _sources(where: str, cloud: Cloud, recipe: Recipe) -> None:
    """Validate the other clouds whose points are used as matrices by steps of `cloud`.

    Raises WrongRecipe unless each of these clouds comes before `cloud` in the recipe, and has at most
    MAX_SEEN_POINTS points. where: the beginning of the error message.
    """
    before = recipe.clouds[: [c.name for c in recipe.clouds].index(cloud.name)]
    for source in cloud.sources:
        if not any(source is c for c in before):
            wrong = f"a step refers to {source.name!r}, which is not a cloud before it"
            refuse(where, wrong, "put the same cloud object before it")
        if len(source.points) > MAX_SEEN_POINTS:
            wrong = f"a step refers to the {len(source.points)} points of {source.name!r}"
            refuse(where, wrong, f"take at most {MAX_SEEN_POINTS}: each point uses all of them in each frame")


def _view(view: View, recipe: Recipe, names: list[str]) -> None:
    where = f"view {view.name!r}"
    if view.dims not in (2, 3) or len(view.ranges) not in (0, view.dims):
        refuse(
            where,
            f"{len(view.ranges)} ranges for {view.dims} dimensions",
            "take dims 2 or 3, and a range for each",
        )
    if view.rows < 1:
        refuse(where, f"{view.rows} rows", "a view has one or more")
    if view.dims == 2 and not view.ranges and not view.equal:
        refuse(
            where, "its axes have different scales and no ranges", "give each axis a range, or set equal=True"
        )
    for pair in view.ranges:
        check_finite(where, pair)
        if not pair[0] < pair[1]:
            refuse(where, f"the range {pair} is empty", "take (low, high)")
    if view.zooms and (
        len(view.zooms) != len(recipe.stages)
        or any(len(each) != 1 + view.dims or not each[0] > 0 for each in view.zooms)
    ):
        refuse(
            where,
            f"zooms for {len(view.zooms)} stages",
            "take a factor above 0 and an offset along each axis for each stage",
        )
    if view.reaching and (view.axes or (view.dims == 3 and len(view.camera) != 3)):
        refuse(
            where,
            "it is reaching, and has titles of axes or a camera with a target",
            "a reaching view has no numbers at its axes",
        )
    for name in {name for pair in view.together for name in pair}:
        check_known(where, "parameter", name, recipe.defaults)
    if view.axes and (view.dims == 3 or len(view.axes) != 2):
        refuse(where, f"{len(view.axes)} titles of axes", "give a 2D view two or none, a 3D view none")
    if view.dims == 3 and len(view.camera) not in (3, 6):
        refuse(
            where,
            f"a camera of {len(view.camera)} numbers",
            "take its position, or its position and the point that it looks at",
        )
    if view.dims == 3 and len(view.camera) == 6 and not view.ranges:
        refuse(where, "a camera with a target, and no ranges", "give it ranges, or a camera of three numbers")
    if view.edge:
        check_known(where, "cloud", view.edge, names)
    for k, mark in enumerate(view.layers):
        at = f"{where}, mark {k} ({type(mark).__name__} of {mark.cloud!r})"
        mark.check(_scope(at, recipe, view.dims))


def _table(recipe: Recipe, names: list[str]) -> None:
    if recipe.table is None:
        return
    cloud = recipe.cloud(recipe.table.cloud)
    if cloud.place.mixes or cloud.pipeline.mixes:
        wrong = f"a point of {cloud.name!r} depends on others"
        refuse(
            "table",
            wrong,
            "take a cloud without an Orbit, Attention or Flow, because the table computes one point alone",
        )
    for column in recipe.table.columns:
        check_known("table", "column", column, COLUMNS)
    if recipe.table.ideal:
        check_known("table", "cloud", recipe.table.ideal, names)
        own, ideal = recipe.cloud(recipe.table.cloud), recipe.cloud(recipe.table.ideal)
        if own.widths != ideal.widths:
            refuse(
                "table",
                f"{ideal.name!r} has other stages than {own.name!r}",
                "give both the same numbers of coordinates",
            )


def _formula(recipe: Recipe) -> None:
    for classes in TEX_CLASS.findall(recipe.formula):
        for name in classes.split():
            kind, _, of = name.partition("-")
            stages = [str(k) for k in range(len(recipe.stages))]
            if kind not in ("stage", "role"):
                refuse("formula", f"there is no class {name!r}", "take stage-k or role-name")
            check_known("formula", f"class {kind}-", of, stages if kind == "stage" else ROLES)
    if recipe.formula.count("{") != recipe.formula.count("}"):
        refuse("formula", "its braces do not match", "close each opening brace")
    try:
        written = formula(recipe.formula)
    except Exception as wrong:  # unbalanced braces raise exceptions of several types
        refuse("formula", f"it is not LaTeX ({type(wrong).__name__})", "close each opening brace")
    if unknown := TEX_COMMAND.findall(written):
        refuse("formula", f"{unknown[0]} is not known LaTeX", "take a command that latex2mathml knows")
    letters = {unescape(letter) for letter in MATHML_LETTER.findall(written)}
    for parameter in recipe.parameters:
        if parameter.symbol and parameter.symbol not in letters:
            missing = f"{parameter.symbol!r} is not a letter of the formula"
            refuse(f"parameter {parameter.name!r}", missing, "add it to the formula, or leave out the symbol")
