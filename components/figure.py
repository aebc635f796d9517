"""Recipe → Plotly figure, at any parameters and progress. The only maker of traces.

`templates` are the traces and layout of one view without positions: the browser's painter fills in what the
engine computes. `figure` fills them here. Colours stay `var(--role)` in templates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from components import theme as themes
from components.packing import packed
from components.recipe import Layer, Params, Recipe, View

FONT = "system-ui, sans-serif"
THINNER = 0.5  # WebGL draws lines at half their width
LINES = ("line", "trail", "semi-axes", "histogram", "threshold", "rim")
FEW = 1500  # above this many, markers are squares: a third of the vertices of circles


def templates(recipe: Recipe, view: View) -> dict[str, Any]:
    """Traces (one a layer, in order) and layout of a view, positions left out."""
    return {
        "data": [_trace(recipe, view, layer) for layer in view.layers],
        "layout": _scene_layout(view) if view.dims == 3 else _plane_layout(view),
    }


def _trace(recipe: Recipe, view: View, layer: Layer) -> dict[str, Any]:
    color = f"var(--{layer.role})"
    count = len(recipe.cloud(layer.cloud).points) if layer.only is None else 1
    trace: dict[str, Any] = {
        "type": "scatter3d" if view.dims == 3 else "scatter",
        "name": layer.title or layer.role,
        "opacity": layer.opacity,
        "showlegend": False,
        "hoverinfo": "text" if layer.pick else "none" if layer.picks else "skip",
    }
    if layer.kind == "field":  # the browser paints it under the axes; `figure` makes it a heat map
        return trace | {"mode": "markers", **_mesh_color(layer, color)}
    if layer.kind in ("mesh", "plane"):
        i, j, k = (fan(layer.bins) if layer.kind == "plane" else np.asarray(layer.order)).T.tolist()
        light = {"ambient": 0.72, "diffuse": 0.45, "specular": 0.05, "roughness": 0.9, "fresnel": 0.1}
        return trace | {
            "type": "mesh3d",
            "i": i,
            "j": j,
            "k": k,
            "lighting": light,
            **_mesh_color(layer, color),
        }
    if layer.kind == "labels":
        labels = list(recipe.cloud(layer.cloud).labels or ())
        font = {"color": color, "size": 15, "family": FONT}
        return trace | {"mode": "text", "text": labels, "textfont": font}
    if layer.kind in LINES:
        width = layer.size if view.dims == 3 else layer.size * THINNER
        return trace | {"mode": "lines", "line": {"color": color, "width": width, "dash": layer.dash}}
    marker: dict[str, Any] = {
        "size": layer.size,
        "color": color,
        "symbol": "circle-open" if layer.hollow else "square" if layer.square or count > FEW else "circle",
        "line": {"width": 0},
    }
    if layer.color:
        marker |= {
            "colorscale": themes.scale(layer.color.scale),
            "cmin": layer.color.low,
            "cmax": layer.color.high,
        }
    return trace | {"mode": "markers", "marker": marker}


def fan(corners: int) -> np.ndarray:
    """The triangles of a disc: its middle is point 0, its edge the points after it, closed."""
    edge = np.arange(1, corners + 1)
    return np.stack([np.zeros_like(edge), edge, edge + 1], axis=-1)


def _mesh_color(layer: Layer, color: str) -> dict[str, Any]:
    if layer.color is None:
        return {"color": color, "showscale": False}
    scale, low, high = themes.scale(layer.color.scale), layer.color.low, layer.color.high
    return {"colorscale": scale, "cmin": low, "cmax": high, "showscale": False}


def _base_layout() -> dict[str, Any]:
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "var(--ink)", "family": FONT, "size": 14},
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "showlegend": False,
        "uirevision": "constant",
        "hoverlabel": {"font": {"family": FONT}},
    }


def _scene_layout(view: View) -> dict[str, Any]:
    axes = [
        {"visible": False, "type": "linear", "range": list(pair), "autorange": False, "showspikes": False}
        for pair in view.ranges
    ]
    x, y, z = view.camera
    camera = {
        "eye": {"x": x, "y": y, "z": z},
        "center": {"x": 0, "y": 0, "z": 0},
        "up": {"x": 0, "y": 0, "z": 1},
        "projection": {"type": "perspective"},
    }
    scene: dict[str, Any] = dict(zip(("xaxis", "yaxis", "zaxis"), axes, strict=True))
    scene |= {"aspectmode": "cube", "dragmode": "turntable", "camera": camera}
    return _base_layout() | {"scene": scene}


def _plane_layout(view: View) -> dict[str, Any]:
    axes = [
        {
            "range": list(pair),
            "autorange": False,
            "fixedrange": True,
            "zeroline": True,
            "zerolinecolor": "var(--rule)",
            "gridcolor": "var(--rule)",
            "showgrid": False,
            "showticklabels": bool(view.axes),
            "title": {"text": title, "standoff": 6},
            "ticks": "outside" if view.axes else "",
            "tickcolor": "var(--rule)",
            "nticks": 6,
        }
        for pair, title in zip(view.ranges, view.axes or ("", ""), strict=True)
    ]
    if view.equal:
        axes[1] |= {"scaleanchor": "x", "scaleratio": 1}
        axes[0] |= {"constrain": "domain"}
        axes[1] |= {"constrain": "domain"}
    margin = {"l": 64, "r": 12, "t": 10, "b": 48} if view.axes else {"l": 8, "r": 8, "t": 8, "b": 8}
    return _base_layout() | {"xaxis": axes[0], "yaxis": axes[1], "margin": margin, "dragmode": False}


def figure(
    recipe: Recipe,
    params: Params | None = None,
    progress: float | None = None,
    *,
    theme: str = "light",
    followed: int | None = None,
) -> go.Figure:
    """The recipe's views side by side as a Plotly figure; parameters not named keep their defaults."""
    params = recipe.defaults | dict(params or {})
    progress = recipe.progress if progress is None else progress
    followed = recipe.follow if followed is None else followed
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = _base_layout() | {"paper_bgcolor": "var(--paper)"}
    width = 1 / len(recipe.views)
    for n, view in enumerate(recipe.views, 1):
        template = templates(recipe, view)
        domain = [width * (n - 1), width * n]
        for layer, trace in zip(view.layers, template["data"], strict=True):
            if layer.kind == "field":
                filled = _heat_map(recipe, view, layer, trace, params, progress)
            else:
                filled = _filled(recipe, layer, trace, params, progress, followed)
            place = {"scene": f"scene{n}"} if view.dims == 3 else {"xaxis": f"x{n}", "yaxis": f"y{n}"}
            data.append(filled | place)
        if view.dims == 3:
            layout[f"scene{n}"] = template["layout"]["scene"] | {"domain": {"x": domain, "y": [0, 1]}}
        else:
            anchor = {"scaleanchor": f"x{n}"} if view.equal else {}
            layout[f"xaxis{n}"] = template["layout"]["xaxis"] | {"domain": domain, "anchor": f"y{n}"}
            layout[f"yaxis{n}"] = template["layout"]["yaxis"] | {"anchor": f"x{n}"} | anchor
    return go.Figure(themes.resolve(data, theme), themes.resolve(layout, theme))


def _filled(
    recipe: Recipe, layer: Layer, trace: dict[str, Any], params: Params, progress: float, followed: int
) -> dict[str, Any]:
    points = recipe.layer_points(layer, params, progress, followed=followed)
    out = trace | dict(zip("xyz", points.T.tolist(), strict=False)) | {"opacity": layer.opacity_at(progress)}
    if layer.color:
        values = recipe.layer_values(layer, params, progress, followed=followed).tolist()
        if layer.kind == "mesh":
            return out | {"intensity": values}
        return out | {"marker": trace["marker"] | {"color": values}}
    return out


def _heat_map(
    recipe: Recipe, view: View, layer: Layer, trace: dict[str, Any], params: Params, progress: float
) -> dict[str, Any]:
    z = recipe.layer_values(layer, params, progress).reshape(-1, layer.bins)
    (left, right), (low, high) = view.ranges
    scale = {name: trace[name] for name in ("colorscale", "showscale")}
    scale |= {"zmin": trace["cmin"], "zmax": trace["cmax"]}
    x, y = np.linspace(left, right, z.shape[1]).tolist(), np.linspace(low, high, z.shape[0]).tolist()
    shown = {"opacity": layer.opacity_at(progress), "hoverinfo": "skip", "name": trace["name"]}
    return {"type": "heatmap", "x": x, "y": y, "z": z.tolist(), "zsmooth": "best", **scale, **shown}


def document(recipe: Recipe) -> dict[str, Any]:
    """The recipe as JSON data with each view's templates in it: what the browser's player needs."""
    data = packed(recipe)
    for view, sent in zip(recipe.views, data["views"], strict=True):
        sent["figure"] = templates(recipe, view)
    return data
