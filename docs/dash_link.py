from dash import Dash, Input, Output, Patch, callback, ctx, dcc, no_update

from normscape import Scene

app = Dash(__name__)
app.layout = [
    dcc.Slider(0, 2, value=1, id="slider", updatemode="drag"),
    Scene("layernorm", id="scene", params={"gamma1": 1}, controls=["progress", "gamma1"]),
]


@callback(
    [Output("scene", "params"), Output("slider", "value")],
    [Input("scene", "params"), Input("slider", "value")],
    prevent_initial_call=True,
)
def link(params, value):
    if ctx.triggered_id == "scene":
        return no_update, params["gamma1"]
    patch = Patch()
    patch["gamma1"] = value
    return patch, no_update


if __name__ == "__main__":
    app.run()
