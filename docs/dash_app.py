from dash import Dash, Input, Output, callback, dcc, html

from normscape import Scene

app = Dash(__name__)
app.layout = [
    dcc.Slider(0, 5, value=0, step=0.1, id="slider"),
    Scene("layernorm", id="scene", choices={"n": 60}, params={"eps": 0.01}, controls=["progress", "eps"]),
    html.P(id="words"),
]


@callback(Output("scene", "progress"), Input("slider", "value"))
def move(value):
    return value


@callback(Output("words", "children"), Input("scene", "progress"), Input("scene", "params"))
def say(progress, params):
    return f"progress {progress}, ε {params['eps']}"


if __name__ == "__main__":
    app.run()
