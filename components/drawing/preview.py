"""Link previews (Open Graph images): a PNG with a title, and beside it the first view of a scene in a state.

Social networks show pictures of 1200 × 630 pixels, and no SVG. The library resvg converts SVG to PNG; its
wheel of 1.4 MB needs neither a browser nor another library. It does not support CSS custom properties, so
colours are inserted here. It does not support WOFF2 fonts, so `tools/fonts.mjs` writes fonts in another
format for it; if these are missing, resvg uses the system's fonts.
"""

from __future__ import annotations

import re
from html import escape
from textwrap import wrap

from components import fonts, theme
from components.drawing.card import first_view
from components.language.link import State
from components.language.recipe import Recipe

WIDTH, HEIGHT = 1200, 630
FONT_FILES = sorted(fonts.FOLDER.glob("preview-*.ttf"))
FONT_FAMILY = "SourceSans3VF"  # the name inside the font file
LEFT, COLUMN = 64, 500  # pixels: left edge and width of the text
CHARACTER_WIDTH_EM = 0.53  # upper bound of a title character's width, relative to the font size
TITLE_SIZES_PX = (76, 68, 60, 52)  # font sizes of a title; the largest that fits is used
MAX_TITLE_HEIGHT_PX = 260  # largest product of font size and number of lines
PICTURE = (590, 24, 586, 582)  # left, top, width, height
COLOR = re.compile(r"var\(--([\w-]+)\)")


def png(recipe: Recipe, state: State, title: str) -> bytes:
    """The link preview as a PNG file: the result of `svg`, converted by the library resvg."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg(recipe, state, title),
            skip_system_fonts=bool(FONT_FILES),
            font_files=list(map(str, FONT_FILES)) or None,
        )
    )


def svg(recipe: Recipe, state: State, title: str) -> str:
    """The link preview as SVG: the title beside the first view in the given state.

    The colours are dark if the theme of the state is dark; for any other theme they are light.
    """
    (x, y, w, h), shapes = first_view(recipe, state)
    left, top, width, height = PICTURE
    place = f'x="{left}" y="{top}" width="{width}" height="{height}"'
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
        f' font-family="{FONT_FAMILY}, {fonts.OTHERS}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="var(--paper)"/>{_title_svg(title)}'
        f'<svg {place} viewBox="{x:.1f} {y:.1f} {w:.1f} {h:.1f}">{shapes}</svg></svg>'
    )
    colors = theme.colors("dark" if state.theme == "dark" else "light")
    return COLOR.sub(lambda found: colors[found[1]], picture)


def _title_svg(title: str) -> str:
    """SVG with the name Normscape at the top, and the wrapped title below it, vertically centred."""
    size, lines = _typeset(title)
    line_height = 1.14 * size
    first_baseline = HEIGHT / 2 - line_height * (len(lines) - 1) / 2 + size / 3
    line_elements = [
        f'<text x="{LEFT}" y="{first_baseline + line_height * n:.0f}">{escape(line)}</text>'
        for n, line in enumerate(lines)
    ]
    name_element = f'<text x="{LEFT}" y="86" font-size="34" fill="var(--accent)">Normscape</text>'
    return f'{name_element}<g font-size="{size}" fill="var(--ink)">{"".join(line_elements)}</g>'


def _typeset(title: str) -> tuple[int, list[str]]:
    """The font size of a title in pixels, and the lines into which the title is broken.

    The size is the largest of TITLE_SIZES_PX at which the title fits its column. If it fits at none of them,
    the size is the smallest, with as many lines as needed. Raises ValueError for an empty title.
    """
    for size in TITLE_SIZES_PX:
        max_characters = int(COLUMN / (CHARACTER_WIDTH_EM * size))
        lines = wrap(title, max_characters, break_long_words=False)
        if len(lines) * size <= MAX_TITLE_HEIGHT_PX and max(map(len, lines)) <= max_characters:
            break
    return size, lines
