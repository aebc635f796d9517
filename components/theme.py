"""The one home of every colour, keyed by its mathematical role.

Figures name a role as `var(--role)`: the browser resolves it from the style sheet that `css` writes,
Python with `resolve`.
"""

from __future__ import annotations

from typing import Any

# role: (light, dark)
ROLES = {
    "paper": ("#fcfcfa", "#14161b"),
    "panel": ("#f3f3ef", "#1c1f26"),
    "ink": ("#1d2330", "#e8e9ec"),
    "soft": ("#5b6372", "#a2a9b6"),
    "rule": ("#dcdcd5", "#31353f"),
    "accent": ("#2456c8", "#86aaff"),
    "axis": ("#7b8290", "#868d9a"),
    "input": ("#2c63d6", "#7ea6ff"),
    "mean-direction": ("#b45f06", "#f0a350"),
    "hyperplane": ("#0c7d72", "#3fc4b4"),
    "sphere": ("#7a53c8", "#b196f2"),
    "meeting": ("#5b2fb3", "#cdb8ff"),
    "ellipsoid": ("#c2336d", "#f27ba8"),
    "shift": ("#8a6d00", "#d9b93b"),
    "trail": ("#8892a4", "#7d8698"),
    "followed": ("#d4261c", "#ff6b5e"),
    "formula": ("#2f7d32", "#7fd083"),
    "other": ("#c2336d", "#f27ba8"),
    "laser": ("#e0141e", "#ff3b3b"),
    "warning": ("#a33b12", "#ffab85"),
    # labelled data: the ends of the diverging scale, which paints what a network says of them
    "class-0": ("#2c63d6", "#7ea6ff"),
    "class-1": ("#b45f06", "#f0a350"),
    "head-1": ("#0c7d72", "#3fc4b4"),
    "head-2": ("#b45f06", "#f0a350"),
    "head-3": ("#b03a8c", "#e279bf"),
    "head-4": ("#5b2fb3", "#cdb8ff"),
    "plateau": ("#8a6d00", "#d9b93b"),
    "drop": ("#2f7d32", "#7fd083"),
    # other activation functions
    "tanh": ("#c2336d", "#f27ba8"),
    "sigmoid": ("#0c7d72", "#3fc4b4"),
    "erf": ("#8a6d00", "#d9b93b"),
    "relu": ("#c8531c", "#f08a52"),
    "gelu": ("#5b6372", "#a2a9b6"),
}

# scale: colours from low to high, for (light, dark)
SCALES = {
    "diverging": (
        ("#2c63d6", "#8aa9e6", "#c9c9c4", "#dfa263", "#b45f06"),
        ("#7ea6ff", "#5f7fc0", "#6a6e78", "#b9814a", "#f0a350"),
    ),
    "sequential": (("#d5dcf2", "#2c63d6", "#14285c"), ("#2a3558", "#7ea6ff", "#eaf0ff")),
    # of few points, each of which must be seen on the paper
    "weight": (("#86a2e6", "#2c63d6", "#14285c"), ("#5470bd", "#7ea6ff", "#eaf0ff")),
    "cyclic": (
        ("#2c63d6", "#0f8a7e", "#9a8a10", "#c8531c", "#b03a8c", "#2c63d6"),
        ("#7ea6ff", "#3fc4b4", "#cdbb42", "#f08a52", "#e279bf", "#7ea6ff"),
    ),
}
THEMES = ("light", "dark")


def colors(theme: str) -> dict[str, str]:
    """Every custom property of one theme, scales included (`--diverging-0` …)."""
    i = THEMES.index(theme)
    steps = {f"{name}-{k}": c for name, both in SCALES.items() for k, c in enumerate(both[i])}
    return {role: both[i] for role, both in ROLES.items()} | steps


def scale(name: str) -> list[list[Any]]:
    """A Plotly colour scale of `var(--…)` entries."""
    count = len(SCALES[name][0])
    return [[k / (count - 1), f"var(--{name}-{k})"] for k in range(count)]


def resolve(data: Any, theme: str) -> Any:
    """`data` with each `var(--role)` replaced by its colour."""
    known = colors(theme)

    def resolved(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: resolved(value) for key, value in data.items()}
        if isinstance(data, list):
            return [resolved(value) for value in data]
        return known[data[6:-1]] if isinstance(data, str) and data.startswith("var(--") else data

    return resolved(data)


def css() -> str:
    """The custom properties of both themes: that of the system, unless `data-scheme` says which."""
    light, dark = (
        f"color-scheme: {theme}; " + " ".join(f"--{name}: {color};" for name, color in colors(theme).items())
        for theme in THEMES
    )
    system = f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    return system + f':root[data-scheme="light"] {{ {light} }}\n:root[data-scheme="dark"] {{ {dark} }}\n'
