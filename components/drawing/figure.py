"""Plotly figures of recipes, for any values of the parameters and any progress. All traces are made here.

A template is a view's traces and layout without positions and with colours as `var(--role)`. The browser
fills in the positions when it draws; `figure` does the same in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from components import fonts
from components import theme as themes
from components.drawing import depth
from components.language.cloud import Moment, Params
from components.language.marks import (
    Carry,
    Choose,
    Color,
    Follow,
    Labels,
    Mark,
    Open,
    Points,
    Relocate,
    Replay,
    Stroke,
    color_of,
    hand_of,
)
from components.language.packing import packed
from components.language.recipe import Recipe, View

LINE_WIDTH_IN_PLANE = 0.5  # factor on the width of 2D lines, because WebGL draws 3D lines at half their width
LIGHT = {"ambient": 0.72, "diffuse": 0.45, "specular": 0.05, "roughness": 0.9, "fresnel": 0.1}
# surfaces that fold are not shaded: where they fold, the lit and the dark side would swap
FLAT = {"ambient": 1, "diffuse": 0, "specular": 0}
# An empty axis. (`visible: False` is not enough: Plotly still builds meshes for its labels.)
OFF = ("showbackground", "showgrid", "showline", "showspikes", "showticklabels", "zeroline", "autorange")
BARE = dict.fromkeys(OFF, False) | {
    "title": {"text": ""},
    "tickmode": "array",
    "tickvals": [],
    "type": "linear",
}
MAX_CIRCLE_MARKERS = 1500  # more markers are drawn as squares, which have a third of the vertices


def templates(recipe: Recipe, view: View) -> dict[str, Any]:
    """Plotly's traces (one for each mark, in order) and layout of a view, without the positions of points."""
    return {
        "data": [_trace(recipe, view, mark) for mark in view.layers],
        "layout": _scene_layout(view) if view.dims == 3 else _plane_layout(view),
    }


def _trace(recipe: Recipe, view: View, mark: Mark) -> dict[str, Any]:
    trace = {
        "type": "scatter3d" if view.dims == 3 else "scatter",
        "name": mark.title or mark.role,
        "opacity": mark.opacity,
        "showlegend": False,
        "hoverinfo": _hover(recipe, mark),
    }
    return trace | PRIMITIVES[mark.draws](recipe, view, mark)


def _hover(recipe: Recipe, mark: Mark) -> str:
    """Plotly's `hoverinfo` for a mark, which depends on what a click on the mark does.

    "text"  shows a text at the pointer: if a click follows (selects) a point, or if it sets a choice and the
            points have labels
    "none"  shows nothing, but events report the pointer: for other marks that react to clicks
    "skip"  ignores the pointer: for all other marks, also those that are dragged by a handle (`Drag`, `Turn`)
    """
    match hand_of(mark):
        case Follow() | Carry() | Relocate() | Open():
            return "text"
        case Choose():
            return "text" if recipe.cloud(mark.cloud).labels else "none"
        case Replay():
            return "none"
    return "skip"


def _markers(recipe: Recipe, view: View, mark: Any) -> dict[str, Any]:
    many = (
        isinstance(mark, Points)
        and mark.only is None
        and len(recipe.cloud(mark.cloud).points) > MAX_CIRCLE_MARKERS
    )
    symbol = {"ring": "circle-open", "square": "square"}.get(mark.glyph, "square" if many else "circle")
    marker = {"size": mark.size, "color": f"var(--{mark.role})", "symbol": symbol, "line": {"width": 0}}
    whole = {"cliponaxis": False} if view.dims == 2 else {}  # points at the ends of the axes are drawn whole
    paint = _scale(color) if (color := color_of(mark)) else {}
    return {"mode": "markers", "marker": marker | paint, **whole}


def _lines(recipe: Recipe, view: View, mark: Stroke) -> dict[str, Any]:
    width = mark.size if view.dims == 3 else mark.size * LINE_WIDTH_IN_PLANE
    return {"mode": "lines", "line": {"color": f"var(--{mark.role})", "width": width, "dash": mark.dash}}


def _mesh(recipe: Recipe, view: View, mark: Any) -> dict[str, Any]:
    i, j, k = np.asarray(mark.triangles).T.tolist()
    light = LIGHT if mark.closed else FLAT
    color = color_of(mark)
    paint = _scale(color) if color else {"color": f"var(--{mark.role})"}
    return {"type": "mesh3d", "i": i, "j": j, "k": k, "lighting": light, "showscale": False, **paint}


def _texts(recipe: Recipe, view: View, mark: Labels) -> dict[str, Any]:
    font = {"color": f"var(--{themes.word(mark.role)})", "size": 15, "family": fonts.STACK}
    return {"mode": "text", "text": list(recipe.cloud(mark.cloud).labels or ()), "textfont": font}


def _field(recipe: Recipe, view: View, mark: Any) -> dict[str, Any]:
    """Invisible Plotly trace of a mark that fills cells or a view with colours: it has only the colour scale.

    On a page, Normscape's painter draws the colours of such a mark, not Plotly. In the result of the function
    `figure`, Plotly draws them: `figure` turns this trace into a heat map.
    """
    return {"mode": "markers", "visible": False, "showscale": False, **_scale(mark.color)}


PRIMITIVES: dict[str, Any] = {
    "points": _markers,
    "line": _lines,
    "mesh": _mesh,
    "labels": _texts,
    "field": _field,
    "cells": _field,
}


def _scale(color: Color) -> dict[str, Any]:
    return {"colorscale": themes.scale(color.scale), "cmin": color.low, "cmax": color.high}


def _base_layout() -> dict[str, Any]:
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "var(--ink)", "family": fonts.STACK, "size": 14},
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "showlegend": False,
        "uirevision": "constant",
        "hoverlabel": {"font": {"family": fonts.STACK}},
    }


def _scene_layout(view: View) -> dict[str, Any]:
    axes = [BARE | {"range": list(pair)} for pair in view.ranges]
    eye, center = view.camera[:3], view.camera[3:] or (0, 0, 0)
    camera = {
        "eye": dict(zip("xyz", eye, strict=True)),
        "center": dict(zip("xyz", center, strict=True)),
        "up": {"x": 0, "y": 0, "z": 1},
        "projection": {"type": "perspective"},
    }
    scene: dict[str, Any] = dict(zip(("xaxis", "yaxis", "zaxis"), axes, strict=True))
    scene |= {"aspectmode": "cube", "dragmode": "turntable", "camera": camera}
    return _base_layout() | {"scene": scene, "meta": {"depth": depth.BROWSER_NUMBERS}}


def _plane_layout(view: View) -> dict[str, Any]:
    axes = [
        {
            "range": list(pair),
            "autorange": False,
            "fixedrange": True,
            "zeroline": all(mark.draws != "cells" for mark in view.layers),
            "zerolinecolor": "var(--rule)",
            "gridcolor": "var(--rule)",
            "showgrid": False,
            "showticklabels": bool(view.axes),
            "title": {"text": title, "standoff": 6, "font": {"size": 14}},
            "tickfont": {"size": 13},
            "ticks": "outside" if view.axes else "",
            "tickcolor": "var(--rule)",
            "nticks": 6,
            # 2000 is written as 2k, so that labels of training steps fit side by side
            "tickformat": "~s" if max(pair) >= 1000 else "",
        }
        for pair, title in zip(view.ranges, view.axes or ("", ""), strict=True)
    ]
    if view.equal:
        axes[1] |= {"scaleanchor": "x", "scaleratio": 1}
        axes[0] |= {"constrain": "domain"}
        axes[1] |= {"constrain": "domain"}
    margin = {"l": 60, "r": 12, "t": 10, "b": 44} if view.axes else {"l": 8, "r": 8, "t": 8, "b": 8}
    if view.axes and not any(view.axes):  # tick labels without titles
        margin = {"l": 36, "r": 12, "t": 8, "b": 26}
    return _base_layout() | {"xaxis": axes[0], "yaxis": axes[1], "margin": margin, "dragmode": False}


def figure(
    recipe: Recipe,
    params: Params | None = None,
    progress: float | None = None,
    *,
    theme: str = "light",
    followed: int | None = None,
) -> go.Figure:
    """A Plotly figure of all views of a recipe, side by side.

    params: values of parameters by name; the other parameters have their defaults. progress: None for the
    recipe's own. followed: the index of the followed (selected) point; None for the recipe's own. theme:
    "light" or "dark".
    """
    params = recipe.defaults | dict(params or {})
    progress = recipe.progress if progress is None else progress
    moment = recipe.moment(params, progress, followed=recipe.follow if followed is None else followed)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = _base_layout() | {"paper_bgcolor": "var(--paper)"}
    width = 1 / len(recipe.views)
    for n, own in enumerate(recipe.views, 1):
        view = own.at(progress, params)
        template = templates(recipe, view)
        domain = [width * (n - 1), width * n]
        for mark, trace in zip(view.layers, template["data"], strict=True):
            filled = (_heat_map if mark.draws in ("field", "cells") else _filled)(view, mark, trace, moment)
            filled["opacity"] = own.opacity_of(mark, progress, params)
            place = {"scene": f"scene{n}"} if view.dims == 3 else {"xaxis": f"x{n}", "yaxis": f"y{n}"}
            data.append(filled | place)
        if view.dims == 3:
            layout[f"scene{n}"] = template["layout"]["scene"] | {"domain": {"x": domain, "y": [0, 1]}}
        else:
            anchor = {"scaleanchor": f"x{n}"} if view.equal else {}
            layout[f"xaxis{n}"] = template["layout"]["xaxis"] | {"domain": domain, "anchor": f"y{n}"}
            layout[f"yaxis{n}"] = template["layout"]["yaxis"] | {"anchor": f"x{n}"} | anchor
    return go.Figure(themes.resolve(data, theme), themes.resolve(layout, theme))


def _filled(view: View, mark: Mark, trace: dict[str, Any], at: Moment) -> dict[str, Any]:
    out = trace | dict(zip("xyz", mark.points(at).T.tolist(), strict=False))
    if color_of(mark) is None:
        return out
    values = mark.values(at).tolist()
    return out | (
        {"intensity": values} if mark.draws == "mesh" else {"marker": trace["marker"] | {"color": values}}
    )


def _heat_map(view: View, mark: Any, trace: dict[str, Any], at: Moment) -> dict[str, Any]:
    z = mark.values(at).reshape(-1, mark.columns)
    (left, right), (low, high) = view.ranges
    scale = {
        "colorscale": trace["colorscale"],
        "showscale": False,
        "zmin": trace["cmin"],
        "zmax": trace["cmax"],
    }
    x, y = np.linspace(left, right, z.shape[1]), np.linspace(low, high, z.shape[0])
    if mark.draws == "cells":
        x, y = mark.points(at)[: mark.columns, 0], mark.points(at)[:: mark.columns, 1]
    smooth = {"zsmooth": "best" if mark.draws == "field" else False}
    shown = {"hoverinfo": "skip", "name": trace["name"]}
    return {"type": "heatmap", "x": x.tolist(), "y": y.tolist(), "z": z.tolist(), **smooth, **scale, **shown}


def document(recipe: Recipe) -> dict[str, Any]:
    """A recipe, with a template for each view, as JSON data: all that the browser's player draws from."""
    data = packed(recipe)
    for view, sent in zip(recipe.views, data["views"], strict=True):
        sent |= {"figure": templates(recipe, view), "wide": view.wide}
    return data
