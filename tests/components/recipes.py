"""A small recipe with one layer of every kind, in 3D and in 2D, for the tests of this folder."""

import numpy as np

from components.recipe import Cloud, Color, Layer, Parameter, Recipe, Row, Table, View, rows
from geometry import Affine, Entries, Normalize, Pipeline, clouds

FADE = (1.0, 0.5, 0.25)


def steps(d):
    gain = Entries(np.zeros((d, d)), {"gain": np.eye(d)})
    return (Normalize(eps=Entries(0.0, {"eps": 1.0})), Affine(gain))


def layers(d):
    show, values = rows(np.eye(d)), np.linspace(-1, 1, 20)
    pair = (Row((1, 0)), Row((0, 1), stage=0))
    found = [
        Layer(
            "x", "points", "input", show, "a point", color=Color("diverging", -1, 1, values=values), pick=True
        ),
        Layer("x", "points", "other", pair if d == 2 else show, only=[1, 3], hollow=True, fade=FADE),
        Layer("x", "points", "followed", show, only="followed", size=9),
        Layer("x", "points", "other", show, only="followed", color=Color("diverging", -1, 1, values=values)),
        Layer("x", "trail", "trail", show, only=[3], arrow=0.25),
        Layer("x", "points", "trail", show, color=Color("sequential", -1, 1, row=Row((1,)))),
        Layer("x", "trail", "trail", show, only=[0, 2], opacity=0.5),
        Layer("x", "line", "sphere", show, order=np.array([0, 1, -1, 2]), dash="dot"),
        Layer("names", "labels", "axis", show),
        Layer("frame", "semi-axes", "ellipsoid", show),
    ]
    if d == 3:
        return (
            *found,
            Layer("ball", "mesh", "sphere", show, order=clouds.sphere_mesh()[1], fade=(0.1, 0.2, 0.3)),
            Layer("half", "plane", "hyperplane", show, span=(0, 1.5), bins=12),
            Layer("half", "rim", "hyperplane", show, span=(0, 1.5), bins=12),
        )
    classes = np.arange(20) % 2
    return (
        *found,
        Layer("x", "histogram", "input", show[:1], span=(-2, 2), bins=5),
        Layer("x", "threshold", "warning", show[:1], span=(0, 9), classes=classes),
        Layer("grid", "field", "sphere", (), color=Color("diverging", -3, 3, row=Row((1, 1))), bins=5),
    )


def recipe(d):
    x = np.random.default_rng(1).normal(size=(20, d))
    found = [Cloud("x", x, Pipeline(steps(d))), Cloud("names", np.eye(d), labels=["<a>", "b&b", "c"][:d])]
    found.append(Cloud("frame", np.vstack([np.zeros(d), np.eye(d)]), Pipeline(steps(d))))
    if d == 3:
        found.append(Cloud("ball", clouds.sphere_mesh()[0], Pipeline(steps(d))))
        found.append(Cloud("half", np.array([[0.2], [1.2], [0.7], [-0.3]])))
    else:
        across, up = np.meshgrid(np.linspace(-3, 3, 5), np.linspace(-3, 3, 4))
        found.append(Cloud("grid", np.stack([across, up], -1).reshape(-1, 2), place=Pipeline(steps(d))))
    parameters = (Parameter("gain", "g", 1, -2, 2), Parameter("eps", "ε", 1e-5, 1e-8, 10, scale="log"))
    view = View("view", "", layers(d), ((-3, 3),) * d, dims=d, axes=("x", "y") if d == 2 else ())
    return Recipe(("x", "u", "g"), parameters, tuple(found), (view,), table=Table("x"))
