"""All colours, in a light and a dark theme. Each belongs to a role: the kind of thing drawn with it.

A role is for example "sphere". Figures contain colours as `var(--role)`. Browsers replace this by the colour
from the style sheet that `css` returns, and Python replaces it with `resolve`.
"""

from __future__ import annotations

from typing import Any

# Colours of the interface. role: (light, dark)
INTERFACE = {
    "paper": ("#fcfcfa", "#14161b"),
    "panel": ("#f3f3ef", "#1c1f26"),
    "ink": ("#1d2330", "#e8e9ec"),
    "soft": ("#565e6d", "#a2a9b6"),
    "rule": ("#dcdcd5", "#31353f"),
    "accent": ("#1c6b33", "#74c888"),
    "warning": ("#6d4a12", "#f0d4a4"),
    "laser": ("#00913f", "#3fe28a"),
}
# Colours of figures. role: (light, dark, meaning). Red is for the selected point; green is for the interface
DRAWN = {
    "axis": ("#727987", "#828996", "axes, grid lines and their labels"),
    "input": ("#1b70e6", "#86b9ff", "input points"),
    "trail": ("#8a93a5", "#677081", "former places of points, and background objects"),
    "followed": ("#d61c1e", "#ff6155", "the followed point; no other role is red"),
    "mean-direction": ("#c66f0c", "#f0a463", "the line along 𝟏, on which the mean lies"),
    "hyperplane": ("#006f70", "#40d4d2", "the hyperplane of mean 0"),
    "sphere": ("#6c43b6", "#a68ff4", "spheres and circles, and operations that divide by the length"),
    "meeting": ("#451b9f", "#cecbff", "the intersection of sphere and hyperplane"),
    "ellipsoid": ("#ad3a9c", "#e07fd0", "the ellipsoid: a sphere stretched by the gain"),
    "shift": ("#676300", "#d9d27c", "a shift, an added vector"),
    "query": ("#87660c", "#f0cb40", "a query, or another handle that readers turn"),
    "formula": ("#613f28", "#debca5", "a value computed in a second way, for comparison"),
    "other": ("#b01c66", "#fa80ba", "the second of two sets of points"),
    "class-0": ("#7b158d", "#c268cf", "the first class; the low end of the diverging scale"),
    "class-1": ("#c08500", "#f6bd5f", "the second class; the high end of the diverging scale"),
    "plateau": ("#8d7a3c", "#c7c07f", "plateaus of a training"),
    "drop": ("#80235b", "#ce90c4", "sudden drops of a training"),
    "series-1": ("#036c94", "#1fb4d8", "the first of several things: heads, functions, neurons, norms"),
    "series-2": ("#b5824c", "#d6a25f", "the second of several things; lines also differ in their dashes"),
    "series-3": ("#98406b", "#f7b0ce", "the third of several things"),
    "series-4": ("#2f347e", "#5283df", "the fourth of several things"),
    "series-5": ("#8e8b5c", "#aaa670", "the fifth of several things"),
}
# Text on cells of the sequential scale. role: (light, dark, end of its range on the scale, from 0 to 1)
UPON = {
    "on-pale": ("#1d2330", "#ffffff", 0.24),
    "on-middle": ("#000000", "#000000", 0.49),
    "on-deep": ("#ffffff", "#000000", 1.0),
}
ROLES = INTERFACE | {role: (light, dark) for role, (light, dark, _) in (DRAWN | UPON).items()}

# Colours for text in roles whose own colour has too little contrast (WCAG 2.2, 1.4.3). role: (light, dark)
WRITTEN = {
    "axis": ("#676d7a", "#828996"),
    "input": ("#165ec2", "#86b9ff"),
    "trail": ("#656d7e", "#7e8899"),
    "mean-direction": ("#a75700", "#f0a463"),
    "ellipsoid": ("#a03590", "#e07fd0"),
    "class-1": ("#986200", "#f6bd5f"),
    "plateau": ("#7d6b31", "#c7c07f"),
    "series-2": ("#926431", "#e69f12"),
    "series-4": ("#2f347e", "#5586e2"),
    "series-5": ("#726f43", "#aaa670"),
}

# scale: colours from low to high, for (light, dark)
SCALES = {
    # diverging: from one class to the other, or from negative to positive numbers
    "diverging": (
        ("#7b158d", "#b586b8", "#cbc8c2", "#d3ab63", "#c08500"),
        ("#c268cf", "#95638f", "#6a6a70", "#ad905c", "#f6bd5f"),
    ),
    # diverging for points: each colour must be visible on the paper and on a sphere
    "height": (
        ("#7b158d", "#8f5a98", "#7d7a74", "#a07a32", "#a87400"),
        ("#c268cf", "#b184b6", "#a9a9ae", "#c8aa74", "#f6bd5f"),
    ),
    "sequential": (("#d3def4", "#1b70e6", "#112a5c"), ("#2a3a58", "#86b9ff", "#ecf2ff")),
    # sequential for a few points: each colour must be visible on the paper
    "weight": (("#7ea5e6", "#1b70e6", "#112a5c"), ("#4f75bd", "#86b9ff", "#ecf2ff")),
    # all hues in a circle, with a pale red
    "cyclic": (
        ("#1b70e6", "#00848c", "#868a12", "#c66f0c", "#a8667c", "#ad3a9c", "#1b70e6"),
        ("#86b9ff", "#40d4d2", "#cfca55", "#f0a463", "#d99aab", "#e07fd0", "#86b9ff"),
    ),
}
THEMES = ("light", "dark")


def colors(theme: str) -> dict[str, str]:
    """All colours of one theme, by name: roles, variants of roles for text, and the steps of colour scales.

    For example `axis`, `axis-text` and `diverging-0`. With `--` before them, these are the names of CSS
    custom properties.
    """
    i = THEMES.index(theme)
    steps = {f"{name}-{k}": c for name, both in SCALES.items() for k, c in enumerate(both[i])}
    words = {f"{role}-text": both[i] for role, both in WRITTEN.items()}
    return {role: both[i] for role, both in ROLES.items()} | words | steps


def word(role: str) -> str:
    """The name of the colour for text about a role, as in `colors`.

    It is `role-text` if the role's own colour has too little contrast for text, otherwise `role` itself.
    """
    return f"{role}-text" if role in WRITTEN else role


def upon(share: float) -> str:
    """The role whose colour is legible, as text, on a cell with a colour of the sequential scale.

    share: the position of the cell's colour on the scale, from 0 to 1.
    """
    return next((role for role, (_, _, end) in UPON.items() if share < end), "on-deep")


def scale(name: str) -> list[list[Any]]:
    """A colour scale for Plotly: pairs of a position from 0 to 1 and a colour, written `var(--name-k)`."""
    count = len(SCALES[name][0])
    return [[k / (count - 1), f"var(--{name}-{k})"] for k in range(count)]


def resolve(data: Any, theme: str) -> Any:
    """A copy of nested dicts and lists: each text `var(--name)` becomes the colour `name` of the theme."""
    known = colors(theme)

    def resolved(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: resolved(value) for key, value in data.items()}
        if isinstance(data, list):
            return [resolved(value) for value in data]
        return known[data[6:-1]] if isinstance(data, str) and data.startswith("var(--") else data

    return resolved(data)


def css() -> str:
    """The style sheet that defines the colours of both themes as custom properties.

    The light or dark setting of the reader's operating system selects the theme, unless the root element has
    the attribute `data-scheme`.
    """
    light, dark = (
        f"color-scheme: {theme}; " + " ".join(f"--{name}: {color};" for name, color in colors(theme).items())
        for theme in THEMES
    )
    system = f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    return system + f':root[data-scheme="light"] {{ {light} }}\n:root[data-scheme="dark"] {{ {dark} }}\n'
