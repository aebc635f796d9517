"""A plain Dash page, to compare with in benchmarks/load.py: every slider tick requests a new figure."""

import dash
import numpy as np
import plotly.graph_objects as go
from dash import Input, Output, dcc, html

from geometry import center, layer_norm
from geometry.centering import hyperplane_basis

POINTS, D = 400, 3
CLOUD = np.random.default_rng(0).normal(size=(POINTS, D)) + 0.8
U = hyperplane_basis(D)
RING = (
    np.sqrt(D)
    * np.stack([np.cos(np.linspace(0, 2 * np.pi, 129)), np.sin(np.linspace(0, 2 * np.pi, 129))], -1)
    @ U
)
AXES = {name: {"range": [-4, 4], "autorange": False} for name in ("xaxis", "yaxis", "zaxis")}


def figure(gamma: float) -> go.Figure:
    """The figure of LayerNorm whose gain is `gamma` on the first axis: points, hyperplane and ellipse."""
    gain = np.array([gamma, 1.0, 1.0])
    landed, plane = layer_norm(CLOUD, gamma=gain), 3 * np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) @ U
    traces = [
        go.Scatter3d(
            **xyz(landed), mode="markers", marker={"size": 3, "color": center(CLOUD)[:, 0]}, name="y"
        ),
        go.Scatter3d(**xyz(CLOUD), mode="markers", marker={"size": 2, "opacity": 0.3}, name="x"),
        go.Scatter3d(**xyz(RING * gain), mode="lines", name="the ellipse"),
        go.Mesh3d(**xyz(plane), opacity=0.2, name="the hyperplane"),
    ]
    return go.Figure(traces, {"scene": AXES, "uirevision": "kept"})


def xyz(points: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip("xyz", points.T, strict=True))


app = dash.Dash(__name__, compress=True)
app.layout = html.Div(
    [dcc.Slider(-2, 2, 0.01, value=1, id="gamma", updatemode="drag"), dcc.Graph(id="figure")]
)
app.callback(Output("figure", "figure"), Input("gamma", "value"))(figure)
server = app.server
