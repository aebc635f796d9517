"""A Dash application to compare with: its clientside callback returns a figure computed in advance."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from dash import ClientsideFunction, Dash, Input, Output, dcc, html
from flask import Response
from plotly.utils import PlotlyJSONEncoder

from components.drawing.figure import figure
from components.language.scene import scenes
from components.training.recipes import recipe_of

FRAMES = 12


def create(n: int) -> Dash:
    """The application, whose slider moves n points through LayerNorm in FRAMES steps."""
    recipe = recipe_of(scenes()["layernorm"], n=n)
    moments = np.linspace(0.2, len(recipe.stages) - 1.2, FRAMES)
    figures = [figure(recipe, progress=float(p)) for p in moments]
    frames = [
        [{axis: trace[axis] for axis in "xyz"} for trace in f.to_plotly_json()["data"]] for f in figures
    ]
    app = Dash(__name__, assets_folder=str(Path(__file__).parent / "clientside"))
    slider = dcc.Slider(0, FRAMES - 1, 1, value=0, id="k")
    app.layout = html.Div([slider, dcc.Graph(id="figure", figure=figures[0], style={"height": "90vh"})])
    app.clientside_callback(
        ClientsideFunction("bench", "draw"), Output("figure", "figure"), Input("k", "value")
    )

    text = json.dumps({"figure": figures[0], "frames": frames}, cls=PlotlyJSONEncoder)
    app.server.add_url_rule("/frames", "frames", lambda: Response(text, content_type="application/json"))
    app.server.add_url_rule("/healthz", "healthz", lambda: "ok")
    return app


if __name__ == "__main__":
    create(int(sys.argv[2])).run(port=int(sys.argv[1]), debug=False)
