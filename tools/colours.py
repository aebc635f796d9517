"""Measure how different the theme's colours look, also in colour blindness, and write docs/colours.md.

    python tools/colours.py     # writes the page and its picture

Differences are Euclidean distances in OKLab (Björn Ottosson, A perceptual color space for image processing,
2020). Black and white differ by 1; two colours side by side can just be told apart at 0.02.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from components import theme  # noqa: E402

# Matrices on linear RGB that simulate normal vision, protanopia, deuteranopia, tritanopia: Gustavo Machado,
# Manuel Oliveira and Leandro Fernandes, A Physiologically-based Model for Simulation of Color Vision
# Deficiency, IEEE TVCG 15 (2009), severity 1.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def parts(color: str) -> np.ndarray:
    """The red, green and blue of `#rrggbb`, from 0 to 255, as an array (3,)."""
    return np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)])


def hexed(parts: np.ndarray) -> str:
    """Red, green and blue from 0 to 255, rounded and written as `#rrggbb`."""
    return "#" + "".join(f"{round(part):02x}" for part in parts)


def linear(color: str) -> np.ndarray:
    """Linear-light red, green and blue of `#rrggbb`, from 0 to 1 (sRGB, IEC 61966-2-1)."""
    own = parts(color) / 255
    return np.where(own <= 0.04045, own / 12.92, ((own + 0.055) / 1.055) ** 2.4)


def written(light: np.ndarray) -> str:
    """Linear-light red, green and blue, clipped to 0 … 1, as `#rrggbb`: the inverse of `linear`."""
    own = np.clip(light, 0, 1)
    return hexed(255 * np.where(own <= 0.0031308, 12.92 * own, 1.055 * own ** (1 / 2.4) - 0.055))


def seen(color: str, vision: str) -> str:
    """The colour that a kind of vision (a key of `VISIONS`) sees in place of `color`, as `#rrggbb`."""
    return written(VISIONS[vision] @ linear(color))


def oklab(color: str) -> np.ndarray:
    """OKLab coordinates of `#rrggbb`: (lightness, green to red, blue to yellow)."""
    return LAB @ np.cbrt(LMS @ linear(color))


def lch(color: str) -> tuple[float, float, float]:
    """OKLab lightness, chroma and hue (in degrees) of `#rrggbb`."""
    lightness, a, b = oklab(color)
    return float(lightness), float(np.hypot(a, b)), float(np.degrees(np.arctan2(b, a)) % 360)


def difference(a: str, b: str, vision: str = "normal") -> float:
    """The distance of two colours in OKLab, as they appear in a kind of vision."""
    return float(np.linalg.norm(oklab(seen(a, vision)) - oklab(seen(b, vision))))


def turn(a: str, b: str) -> float:
    """The angle between the hues of two colours, in degrees."""
    apart = abs(lch(a)[2] - lch(b)[2])
    return min(apart, 360 - apart)


def luminance(color: str) -> float:
    """The relative luminance of a colour as WCAG 2.2 defines it, from 0 to 1."""
    return float(linear(color) @ (0.2126, 0.7152, 0.0722))


def contrast(a: str, b: str) -> float:
    """The contrast ratio of two colours as WCAG 2.2 defines it, from 1 to 21."""
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


# --- the page

PAGE = """# Colours

Each colour has one meaning, in all scenes. `components/theme.py` defines them, and \
`python tools/colours.py` writes this page and its picture.

![The colours of the light and the dark theme, in normal vision and in three kinds of colour
blindness](colours.svg)

| role | meaning | light theme | dark theme | contrast with the background, in each theme |
| --- | --- | --- | --- | --- |
{rows}

Only the followed point is *red*. *Green* is the interface: buttons, links, the focus ring; its hue \
differs by at least 40° from the hue of every drawn role. Sequential and diverging scales avoid red \
and green; the cyclic scale contains all hues, with a pale red.

`tests/components/test_theme.py` checks, for every role and every view of every scene:

- marks have a contrast of at least 3 with the background ("paper"), words 4.5 with paper and panel; where \
the colour of a role has too little contrast for text, its words have another shade (`WRITTEN` in `theme.py`);
- two roles that are drawn in one view in the same form differ by at least {apart} in OKLab, and {without} \
in each kind of colour blindness (simulated after Machado, Oliveira and Fernandes 2009);
- roles with more similar colours differ in form: points, squares or rings; solid or dashed lines; areas; \
words.
"""
# in OKLab, between roles that one view shows in the same form
MIN_DIFFERENCE, MIN_COLOUR_BLIND_DIFFERENCE = 0.08, 0.04


def page() -> str:
    rows = (
        f"| {role} | {meaning} | `{light}` | `{dark}` | {contrasts(light, dark)} |"
        for role, (light, dark, meaning) in {**interface(), **theme.DRAWN}.items()
    )
    return PAGE.format(rows="\n".join(rows), apart=MIN_DIFFERENCE, without=MIN_COLOUR_BLIND_DIFFERENCE)


def interface() -> dict[str, tuple[str, str, str]]:
    """For each coloured role of the interface, its colours in the light and dark theme, and its meaning."""
    meanings = {"accent": "the interface: buttons and links", "warning": "error messages"}
    return {role: (*theme.INTERFACE[role], meaning) for role, meaning in meanings.items()}


def contrasts(light: str, dark: str) -> str:
    papers = theme.INTERFACE["paper"]
    return ", ".join(f"{contrast(*pair):.1f}" for pair in zip((light, dark), papers, strict=True))


ROW_HEIGHT, PICTURE_WIDTH, NAME_WIDTH, SWATCH_WIDTH = 26, 620, 150, 100


def picture() -> str:
    """An SVG of colour swatches for both themes: a row for each role, a column for each kind of vision."""
    roles = {**interface(), **theme.DRAWN}
    height = ROW_HEIGHT * (len(roles) + 1) + 20
    panels = [_panel(roles, i, name, PICTURE_WIDTH * i, height) for i, name in enumerate(theme.THEMES)]
    size = f'viewBox="0 0 {2 * PICTURE_WIDTH} {height}" width="{2 * PICTURE_WIDTH}" height="{height}"'
    style = 'font-family="system-ui, sans-serif" font-size="13"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n' + "\n".join(panels) + "\n</svg>\n"


def _panel(roles: dict[str, tuple[str, str, str]], i: int, name: str, left: int, height: int) -> str:
    paper, ink = theme.INTERFACE["paper"][i], theme.INTERFACE["ink"][i]
    parts = [f'<rect width="{PICTURE_WIDTH}" height="{height}" fill="{paper}"/>']
    heads = [(14, name), *((NAME_WIDTH + SWATCH_WIDTH * k + 14, vision) for k, vision in enumerate(VISIONS))]
    parts += [f'<text x="{x}" y="20" fill="{ink}">{text}</text>' for x, text in heads]
    for k, (role, each) in enumerate(roles.items(), 1):
        y = ROW_HEIGHT * k + 6
        parts.append(f'<text x="14" y="{y + 17}" fill="{ink}">{escape(role)}</text>')
        for n, vision in enumerate(VISIONS):
            x, color = NAME_WIDTH + SWATCH_WIDTH * n, seen(each[i], vision)
            parts.append(
                f'<path d="M{x + 14} {y + 12}h36" stroke="{color}" stroke-width="4"/>'
                f'<rect x="{x + 56}" y="{y + 4}" width="16" height="16" fill="{color}"/>'
                f'<circle cx="{x + 84}" cy="{y + 12}" r="5" fill="{color}"/>'
            )
    return f'<g transform="translate({left})">' + "".join(parts) + "</g>"


FILES = {"colours.md": page, "colours.svg": picture}

if __name__ == "__main__":
    for file, make in FILES.items():
        (ROOT / "docs" / file).write_text(make(), "utf-8")
