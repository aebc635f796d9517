"""Small recipes with marks of almost all kinds, one in 3D and one in 2D."""

from functools import cache

import numpy as np

from components.language.cloud import Cloud, LargestWeight, Row, SoftmaxWeight, rows
from components.language.finish import finished
from components.language.marks import (
    Average,
    BestQuery,
    Cells,
    Color,
    Disc,
    Field,
    Follow,
    Followed,
    Gated,
    Highest,
    Histogram,
    Hull,
    HullFaces,
    Labels,
    Line,
    Mesh,
    Points,
    Profile,
    Rim,
    Selectable,
    SemiAxes,
    Sheet,
    Support,
    SupportDisc,
    Threshold,
    Trail,
    Unselectable,
    WeightCurve,
    WeightLimit,
    WeightNow,
)
from components.language.recipe import Parameter, Recipe, Table, View
from geometry import Affine, Entries, Normalize, Pipeline, clouds

FADE = (1.0, 0.5, 0.25)
QUERY = Row((1.0, -0.5))
HEIGHT = Color("diverging", -1, 1, of=Row((0.0, 1.0)))
MOST, NOW = (Color("sequential", 0, 1, of=of) for of in (LargestWeight(), SoftmaxWeight(QUERY)))


def steps(d):
    gain = Entries(np.zeros((d, d)), {"gain": np.eye(d)})
    return (Normalize(eps=Entries(0.0, {"eps": 1.0})), Affine(gain))


def layers(d):
    show, values = rows(np.eye(d)), np.linspace(-1, 1, 20)
    pair = (Row((1, 0)), Row((0, 1), stage=0))
    found = [
        Points("x", "input", show, "a point", color=Color("diverging", -1, 1, of=values), hand=Follow()),
        Points("x", "other", pair if d == 2 else show, only=[1, 3], glyph="ring", fade=FADE),
        Points("x", "followed", show, only=Followed(), size=9),
        Points("x", "other", show, only=Followed(), color=Color("diverging", -1, 1, of=values)),
        Trail("x", "trail", show, only=[3], arrow=0.25),
        Points("x", "trail", show, color=Color("sequential", -1, 1, of=Row((1,)))),
        Trail("x", "trail", show, only=[0, 2], opacity=0.5),
        Line("x", "sphere", show, order=np.array([0, 1, -1, 2]), dash="dot"),
        Line("x", "meeting", show, where=Row((1,), offset=-0.2, stage=0), size=3),
        Labels("names", "axis", show),
        Points("x", "plateau", show, only=Gated("shared", 1, np.eye(d)), size=5),
        Points("x", "shift", show, only=Highest(Row((1,))), size=12),
        Hull("x", "meeting", show, size=2),
        SemiAxes("frame", "ellipsoid", show),
        Points("x", "input", show, only=Selectable(), color=MOST),
        Points("x", "input", show, only=Unselectable(), glyph="ring", color=NOW),
        Average("x", "other", show, span=(0.01, 1.0), size=2),
        BestQuery("x", "warning", show, reach=2, arrow=0.2),
        Support("x", "shift", show, query=QUERY, radius=1),
        Support("x", "sphere", show, query=None, radius=1, dash="dash"),
    ]
    if d == 3:
        return (
            *found,
            Mesh("ball", "sphere", show, triangles=clouds.sphere_mesh()[1], fade=(0.1, 0.2, 0.3)),
            Sheet("x", "ellipsoid", show, grid=(4, 5), color=HEIGHT, opacity=0.4),
            Sheet("x", "shift", show, grid=(2, 10), opacity=0.2),
            HullFaces("x", "other", show, count=20, opacity=0.3),
            Disc("half", "hyperplane", show, radius=1.5, corners=12),
            Rim("half", "hyperplane", show, radius=1.5, corners=12),
            SupportDisc("x", "series-1", show, query=QUERY, radius=1, opacity=0.3),
        )
    classes = np.arange(20) % 2
    return (
        *found,
        Histogram("x", "input", show[:1], span=(-2, 2), bins=5),
        Profile("x", "sphere", (), only=[1, 4], dash="dash"),
        Threshold("x", "warning", show[:1], span=(0, 9), classes=classes),
        Cells(
            "cells", "sphere", show, color=Color("sequential", -3, 3, of=Row((1,))), columns=5, opacity=0.5
        ),
        WeightCurve("x", "series-1", (), query=QUERY, span=(0, 3)),
        WeightLimit("x", "series-2", (), span=(0, 3)),
        WeightNow("x", "series-3", (), query=QUERY),
        Field("grid", "sphere", (), color=Color("diverging", -3, 3, of=Row((1, 1))), columns=5),
    )


def fresh(d):
    x = np.random.default_rng(1).normal(size=(20, d))
    found = [Cloud("x", x, Pipeline(steps(d))), Cloud("names", np.eye(d), labels=["<a>", "b&b", "c"][:d])]
    found.append(Cloud("frame", np.vstack([np.zeros(d), np.eye(d)]), Pipeline(steps(d))))
    if d == 3:
        found.append(Cloud("ball", clouds.sphere_mesh()[0], Pipeline(steps(d))))
        found.append(Cloud("half", np.array([[0.2], [1.2], [0.7], [-0.3]])))
    else:
        grid = np.stack(np.meshgrid(np.linspace(-3, 3, 5), np.linspace(-3, 3, 4)), -1).reshape(-1, 2)
        found.append(Cloud("grid", grid, place=Pipeline(steps(d))))
        found.append(Cloud("cells", grid / 3 - 1))
    parameters = (Parameter("gain", "g", 1, -2, 2), Parameter("eps", "ε", 1e-5, 1e-8, 10, scale="log"))
    view = View("view", "", layers(d), ((-3, 3),) * d, dims=d, axes=("x", "y") if d == 2 else ())
    return finished(Recipe(("x", "u", "g"), parameters, tuple(found), (view,), table=Table("x")))


recipe = cache(fresh)  # memoised by d: tests share the recipe and the stages of its clouds
