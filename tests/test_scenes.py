"""Rules for every scene: its picture is finite, its recipe is small, and browser and Python agree."""

import json
import re
from dataclasses import replace
from html import unescape
from itertools import product

import numpy as np
import pytest

import app
from components.drawing.figure import document
from components.drawing.projection import project
from components.language.framing.extent import SPHERE_ROLES
from components.language.marks import Line, Mesh, Points, PropertySelection, Support, SupportDisc, Trail
from components.language.packing import packed
from components.language.scene import Choice, Result, Several, Whole, scenes
from components.training.recipes import recipe_of, state_of
from tests.assets.engine import as_sent, assert_agrees
from tests.scenes.rules import keep

LARGEST = 1_500_000  # bytes of JSON, before gzip
UNREADABLE = re.compile(r"\bnan\b|infin|undefined|\bnull\b|[-−]0(\.0*)?(?![\d.])|\de[-+]?\d", re.IGNORECASE)
INSTRUCTION = re.compile(
    r"\b(click|drag|press|tap|touch|hover)\b", re.IGNORECASE
)  # these words belong in hints
EVERY = pytest.mark.parametrize("scene", scenes().values(), ids=scenes())


@pytest.fixture(scope="module")
def client():
    return app.create_app().server.test_client()


def reachable(scene):
    """Yield dictionaries {name of a choice: value}: for each choice of the scene, some of its values in turn.

    These values are: for a list, all options; for a number, the smallest and the largest; for a `narrowed`
    number, the smallest; for a choice of several options, none, each one alone, and all; for any other
    choice, the default.

    If a choice exists only for some values of another choice (`when`), each dictionary also sets the other
    choice, to the first of these values. For a choice that always exists, the default is left out.
    """
    for choice in scene.choices:
        other = {choice.when[0]: choice.when[1][0]} if choice.when else {}
        values = [choice.default]
        if isinstance(choice, Choice):
            values = choice.options
        if isinstance(choice, Several):
            values = ["", *choice.options, ",".join(choice.options)]
        if isinstance(choice, Whole):
            values = [choice.min] if choice.narrowed else [choice.min, choice.max]
        for value in values:
            if other or value != choice.default:
                yield other | {choice.name: value}


def ends(parameter):
    """The set of a parameter's smallest and largest value, and 0 if its slider is logarithmic.

    The default is left out.
    """
    return {parameter.min, parameter.max, *([0.0] if parameter.scale == "log" else [])} - {parameter.value}


def moments(recipe):
    """Three values of the progress: at the first stage, between two stages, and at the last stage.

    A recipe with a single stage has only the value 0.
    """
    last = len(recipe.stages) - 1
    return (0, last / 2 + 0.25, last) if last else (0,)


def check(node, recipe, params):
    """Check that all points of clouds are finite, and that the browser agrees with Python.

    node: a Node process, which runs the browser's code. params: dictionaries of parameter values, each
    checked at the values of the progress that `moments` returns.
    """
    recipe = as_sent(recipe)
    cases = [(p, progress) for p in params for progress in moments(recipe)]
    for (p, progress), answer in zip(cases, node.run(recipe, cases), strict=True):
        for name, x in recipe.positions(p, progress).items():
            assert np.isfinite(x).all(), (name, p, progress)
        assert_agrees(recipe, p, progress, answer)


@EVERY
def test_defaults_and_the_ends_of_every_slider(node, scene):
    recipe = recipe_of(scene)
    one_moved = [recipe.defaults | {p.name: value} for p in recipe.parameters for value in ends(p)]
    lows, highs = ({p.name: getattr(p, end) for p in recipe.parameters} for end in ("min", "max"))
    check(node, recipe, [recipe.defaults, lows, highs, *one_moved])


def titles(recipe):
    """The titles of all views and marks of a recipe, which its picture shows."""
    return [each.title for view in recipe.views for each in (view, *view.layers)]


@EVERY
def test_every_choice(node, scene):
    for choices in reachable(scene):
        recipe = recipe_of(scene, **choices)
        assert len(recipe.stages) > 1 and recipe.views, choices
        keep("titles", scene.slug, not INSTRUCTION.search(" ".join(titles(recipe))), titles(recipe))
        check(node, recipe, [recipe.defaults])


@EVERY
def test_numbers_beside_the_picture_are_numbers_as_people_write_them(node, scene):
    """Readouts at the last stage, and all cells of tables, show readable numbers.

    All sliders are at their defaults, at their lower ends, or at their upper ends.
    """
    recipe = recipe_of(scene)
    lows, highs = ({p.name: getattr(p, end) for p in recipe.parameters} for end in ("min", "max"))
    asked = {"recipe": packed(recipe), "followed": recipe.follow}
    words = [
        node.ask("typeset", text=cell) for row in (recipe.facts.rows if recipe.facts else ()) for cell in row
    ]
    for params in (recipe.defaults, lows, highs):
        words += node.ask("readouts", **asked, params=params, progress=len(recipe.stages) - 1)
        if recipe.table:
            words += [cell for row in node.ask("rows", **asked, params=params) for cell in row]
    unreadable = [word for word in words if UNREADABLE.search(word)]
    keep("readable numbers", scene.slug, not unreadable, unreadable)


@EVERY
def test_a_few_controls_are_open(scene):
    """At most five controls are open at the start; a vector counts as one, and the clock as none."""
    recipe = recipe_of(scene)
    chosen = {c.name: str(c.default) for c in scene.choices}
    shown = [c for c in scene.choices if not isinstance(c, Result) and not c.folded]
    choices = [c for c in shown if not c.when or chosen[c.when[0]] in c.when[1]]
    moved = [p for p in recipe.parameters if not (p.folded or p.quiet or p.name == recipe.clock)]
    sliders = {p.group if p.vector else p.name for p in moved}
    names = [*(c.name for c in choices), *sorted(sliders)]
    keep("controls", scene.slug, len(names) <= 5, f"{len(names)}: {', '.join(names)}")


def stages_by_choice(scene):
    """The names of the stages for different choices: a list of tuples, without duplicates.

    All choices that can change the stages are combined. The values of such a choice are its default, and
    those of `reachable` that change the stages. The first tuple belongs to the defaults.
    """
    usual = recipe_of(scene).stages
    options = {}
    for choices in reachable(scene):
        if recipe_of(scene, **choices).stages != usual:
            for name, value in choices.items():
                options.setdefault(name, set()).add(value)
    values = {c.name: {c.default, *options[c.name]} for c in scene.choices if c.name in options}
    every = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
    return list({tuple(recipe_of(scene, **choices).stages): None for choices in ({}, *every)})


@EVERY
def test_a_paragraph_is_about_the_same_stages_whatever_is_chosen(node, scene):
    """Each scene has paragraphs about stages, and each of these is about the same stages for all choices.

    A paragraph lists its stages by name or number. At least one is a stage of the default recipe; each name
    is a stage for some choices. The stage with a given number has the same name for all choices. A list
    without numbers has all stages of a kind ("Linear 1", "Linear 2" …), or none.
    """
    offered = stages_by_choice(scene)
    passages = [unescape(words) for words in re.findall(r'data-stages="([^"]*)"', scene.text.html)]
    keep("passages", scene.slug, bool(passages), "none")
    for words in passages:
        lit = node.ask("passages", name="stagesNamed", cases=[[words, stages] for stages in offered])
        keep("passages", scene.slug, bool(lit[0]), words)
        for name in words.split(" | "):
            own = node.ask("passages", name="stagesNamed", cases=[[name, stages] for stages in offered])
            keep("passages", scene.slug, any(own), name)
            at_number = {
                stages[int(name)] for stages in offered if name.isdecimal() and int(name) < len(stages)
            }
            assert len(at_number) <= 1, (name, at_number)
        if not any(name.isdecimal() for name in words.split(" | ")):
            kinds = [[re.sub(r"(?<=[^\W\d_]) ?\d+$", "", name) for name in stages] for stages in offered]
            about = {kind[k] for kind, own in zip(kinds, lit, strict=True) for k in own}
            assert lit == [[k for k, each in enumerate(kind) if each in about] for kind in kinds], words


@EVERY
def test_what_layers_show_is_finite(scene):
    """Each mark draws something, and never infinity.

    NaN occurs only as a gap in lines, and for points that `only` leaves out.
    """
    recipe = recipe_of(scene)
    for progress in moments(recipe):
        for layer in (layer for view in recipe.views for layer in view.layers):
            points = layer.points(recipe.moment(recipe.defaults, progress))
            if layer.draws == "field":
                points = layer.values(recipe.moment(recipe.defaults, progress))
            whole = layer.draws != "line" and not isinstance(getattr(layer, "only", None), PropertySelection)
            wrong = ~np.isfinite(points) if whole else np.isinf(points)
            where = f"{wrong.sum()} of {wrong.size} numbers of {type(layer).__name__} of {layer.cloud!r}"
            keep("finite", scene.slug, points.size > 0 and not wrong.any(), f"{where}, progress {progress}")


@EVERY
def test_the_first_frame_is_whole(scene):
    """For the choices of `reachable`, each visible point of a 3D view is at least 5 pixels inside its panel.

    Supporting planes are exempt, because they may reach beyond it.
    """
    size, edge = 600, 5  # pixels
    for query in ({}, *reachable(scene)):
        state = state_of(scene, {name: str(value) for name, value in query.items()})
        at = state.recipe.moment(state.params, state.progress, followed=state.follow)
        for view in (view.at(state.progress) for view in state.recipe.views if view.dims == 3):
            for mark in (mark for mark in view.layers if mark.opacity_at(state.progress) > 0):
                if isinstance(mark, Support | SupportDisc):
                    continue
                flat, _ = project(view, mark.points(at), view.camera, (size, size))
                free = size / 2 - np.nanmax(np.abs(flat), initial=0)
                where = f"{type(mark).__name__} of {mark.cloud!r} in {view.name!r}, {query or 'the defaults'}"
                keep("whole first frame", scene.slug, free >= edge, f"{free:.1f} pixels at {where}")


@EVERY
def test_no_stage_leaves_its_panel(scene):
    """In 3D views, with sliders at their defaults, all visible points are inside the panel.

    They are checked at each stage and half way between stages. Guides, marks without rows and supporting
    planes are exempt.
    """
    state = state_of(scene, {})
    for progress in np.arange(0, len(state.recipe.stages) - 0.75, 0.5):
        at = state.recipe.moment(state.params, progress, followed=state.follow)
        for view in (view.at(progress) for view in state.recipe.views if view.dims == 3):
            for mark in (mark for mark in view.layers if mark.opacity_at(progress) > 0):
                if mark.guide or mark.row_count == 0 or isinstance(mark, Support | SupportDisc):
                    continue
                far = np.nanmax(np.abs(flat_on(view, mark, at)), initial=0)
                where = f"{type(mark).__name__} of {mark.cloud!r} in {view.name!r}, progress {progress}"
                keep("stages in panel", scene.slug, far <= 0.5, f"{far:.2f} at {where}")


@EVERY
def test_no_stop_leaves_its_panel(scene):
    """In 3D views, in the state of each stop of the tour, all visible points are inside the panel.

    Guides, marks without rows and supporting planes are exempt.
    """
    for number, stop in enumerate(scene.text.tour, 1):
        state = state_of(scene, stop.state)
        at = state.recipe.moment(state.params, state.progress, followed=state.follow)
        views = [v.at(state.progress, state.params) for v in state.recipe.views if v.dims == 3]
        for view in (replace(view, camera=state.camera or view.camera) for view in views):
            for mark in (mark for mark in view.layers if mark.opacity_at(state.progress) > 0):
                if mark.guide or mark.row_count == 0 or isinstance(mark, Support | SupportDisc):
                    continue
                far = np.nanmax(np.abs(flat_on(view, mark, at)), initial=0)
                where = f"{type(mark).__name__} of {mark.cloud!r} in {view.name!r}, stop {number}"
                keep("stop in panel", scene.slug, far <= 0.5, f"{far:.2f} at {where}")


REACHING = ["layernorm", "stretch", "fold", "majority", "select", "scores", "block"]
REACHING += ["depth", "ffn", "symmetrise", "absorb", "fibre", "confidence"]


@pytest.mark.parametrize("slug", REACHING)
def test_no_end_of_a_slider_moves_points_out_of_the_hero(slug):
    """Points, trails and the sphere stay inside the first view, for each value of each choice, at each stage.

    One slider at a time is at its ends and at its values in `View.between`. Each pair of sliders in
    `View.together` is at all pairs of five values.
    """
    for query in ({}, *reachable(scenes()[slug])):
        recipe = recipe_of(scenes()[slug], **query)
        view = recipe.views[0]
        assert view.reaching, query
        points = [
            mark
            for mark in view.layers
            if isinstance(mark, Points | Trail)
            or (isinstance(mark, Line | Mesh) and mark.role in SPHERE_ROLES)
            if not mark.guide
        ]
        sliders = {
            p.name: (p.min, p.max, *view.between.get(p.name, ())) for p in recipe.parameters if not p.quiet
        }
        moves = [{}, *({name: end} for name, some in sliders.items() for end in some)]
        for a, b in view.together:
            grids = (np.linspace(*sliders[name][:2], 5).tolist() for name in (a, b))
            moves += [{a: one, b: other} for one, other in product(*grids)]
        for moved in moves:
            params = recipe.defaults | moved
            for progress in range(len(recipe.stages)):  # clouds cache their stages
                at, here = recipe.moment(params, progress, followed=recipe.follow), view.at(progress, params)
                for mark in (mark for mark in points if mark.opacity_at(progress) > 0):
                    if isinstance(mark, Points) and isinstance(mark.only, PropertySelection):
                        mark = replace(mark, only=None)
                    flat = flat_on(here, mark, at)
                    assert np.nanmax(np.abs(flat), initial=0) <= 0.5, (query, moved, progress, mark)


# Scenes whose largest sphere or circle may span less than 60 % of the panel's smaller side, and the least
# share: as the scene opens, other marks reach much farther out, and must be whole.
SMALLER = {
    "stretch": 0.30,  # the ellipse, three times as wide
    "fold": 0.55,  # the shifted circle beside it
}


@EVERY
def test_the_hero_fills_its_panel_and_is_in_its_middle(scene):
    """The largest sphere or circle spans at least 60 % of the first view's panel, and the marks are central.

    One stage with this size is enough. Without a sphere or circle, all marks together must have this size
    at the start. At the start, the middle of all marks is at most 0.08 of the panel's smaller side from the
    panel's middle. Hidden marks, guides, labels, marks without rows and supporting planes do not count as
    marks here. SMALLER and LAID_OUT list exceptions.
    """
    state = state_of(scene, {})
    view, widths = state.recipe.views[0], []
    for progress in [state.progress, *range(len(state.recipe.stages))]:
        at = state.recipe.moment(state.params, progress, followed=state.follow)
        for mark in view.layers:
            if isinstance(mark, Line | Mesh) and mark.role in SPHERE_ROLES and mark.opacity_at(progress) > 0:
                flat = flat_on(view, mark, at)
                widths.append((np.nanmax(flat, axis=0) - np.nanmin(flat, axis=0)).max())
    at = state.recipe.moment(state.params, state.progress, followed=state.follow)
    every = [
        mark for mark in view.layers if mark.draws != "labels" and not mark.guide and mark.row_count != 0
    ]
    shown = [mark for mark in every if mark.opacity_at(state.progress) > 0]
    shown = [mark for mark in shown if not isinstance(mark, Support | SupportDisc)]
    all_of = np.vstack([flat_on(view, mark, at) for mark in shown])
    low, high = np.nanmin(all_of, axis=0), np.nanmax(all_of, axis=0)
    share, off = max(widths or [(high - low).max()]), np.abs(low + high).max() / 2
    keep("large hero", scene.slug, share >= SMALLER.get(scene.slug, 0.6), f"{share:.0%}")
    keep("central hero", scene.slug, view.name in LAID_OUT or off <= 0.08, f"{off:.2f}")


LAID_OUT = ("curve", "grid")  # views whose axes show numbers, and whose ranges are given, not fitted


def flat_on(view, mark, at):
    """The places (N, 2) at which the points of a mark are drawn in a panel.

    Places are measured from the panel's centre, in units of its smaller side. at: the `Moment`.
    """
    flat, _ = project(view, mark.points(at), view.camera, (1.0, 1.0))
    return flat


@EVERY
def test_each_parameter_moves_something(scene):
    recipe = recipe_of(scene)
    moved = frozenset().union(*(c.parameters for c in recipe.clouds))
    idle = [p.name for p in recipe.parameters if p.name not in moved]
    keep("parameters", scene.slug, not idle, f"{', '.join(idle)} moves nothing")


@EVERY
def test_recipe_is_small_and_everything_answers(client, scene):
    text = json.dumps(document(recipe_of(scene)), allow_nan=False)
    keep("light recipe", scene.slug, len(text) < LARGEST, f"{len(text):,} bytes")
    for path in (f"/{scene.slug}", f"/recipe/{scene.slug}", f"/still/{scene.slug}.svg"):
        assert client.get(path).status_code == 200, path


@pytest.mark.parametrize("kind", ["gaussian", "ring"])
def test_the_first_scene_holds_ten_thousand_points(node, kind):
    recipe = recipe_of(scenes()["layernorm"], n=10_000, points=kind)
    assert recipe.clouds[0].points.shape == (10_000, 3)
    check(node, recipe, [recipe.defaults])


@pytest.mark.parametrize(("slug", "name"), [("layernorm", "points"), ("select", "keys")])
def test_vectors_that_nobody_has_changed_fit_each_dimension(slug, name):
    scene = scenes()[slug]
    (dimensions,) = (choice.options for choice in scene.choices if choice.name == "d")
    for d in dimensions:
        assert recipe_of(scene, d=d, **{name: "own"}).clouds[0].points.shape[1] == int(d)
