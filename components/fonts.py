"""The fonts of pages and figures. npm fetches them; tools/fonts.mjs removes the characters that are not used.

Text is set in Source Sans 3. It is drawn for interfaces and legible at small sizes, one file has all weights,
all digits have the same width, and it has Greek letters. Until it is loaded, browsers show Arial. Source Sans
is scaled to 107 %, so that its letters are as high and its lines as long as Arial's: nothing moves when it
arrives. Mathematics is set in STIX Two Math. Its MATH table positions bars, roots and indices, and its
letters are as high as those of the text. Both fonts are under the SIL Open Font License 1.1. If npm has not
been run, the reader's system fonts are used.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache

from learning import shipped

FOLDER = shipped.folder("node_modules") / ".fonts"
# not the fonts' own names, which belong to the complete fonts
TEXT, MATHEMATICS = "Normscape", "Normscape Mathematics"
OTHERS = "Arial, Liberation Sans, Roboto, system-ui, sans-serif"
STACK = f"{TEXT}, {OTHERS}"  # font family of figures
# selector of an embed whose figure is not ready: until it is, the embed uses system fonts and loads no others
STILL = '.embed:has(.views[aria-busy="true"])'
SIGNS = (  # characters that the text font lacks
    "U+2034, U+203E, U+21A6, U+2207-2208, U+2217-2218, U+2223-2228, U+2295-2299, U+22A4-22A5, U+22C5, U+22EF,"
    " U+27C2, U+1D7CE-1D7D7"
)
ADJUSTED = "size-adjust: 107%; ascent-override: 93%; descent-override: 22%; line-gap-override: 0%"
# family, file, and other properties. “signs” has the characters that the text font lacks
FACES = (
    (TEXT, "text", f"font-weight: 400 700; {ADJUSTED}"),
    (TEXT, "italic", f"font-style: italic; {ADJUSTED}"),
    (TEXT, "signs", f"font-weight: 400 700; unicode-range: {SIGNS}"),
    (MATHEMATICS, "mathematics", ""),
)
NOTICE = (
    "/* Source Sans 3 © Adobe, STIX Two Math © The STIX Fonts Project Authors, both cut to fewer letters:"
    " SIL Open Font License 1.1, https://openfontlicense.org */"
)


@cache
def files() -> dict[str, bytes]:
    """The font files (WOFF2) that npm has fetched: a dict from file names, which have a hash, to contents."""
    found = {}
    for face in dict.fromkeys(file for _, file, _ in FACES):
        path = FOLDER / f"{face}.woff2"
        if path.exists():
            data = path.read_bytes()
            found[f"{face}-{hashlib.sha256(data).hexdigest()[:12]}.woff2"] = data
    return found


def named(face: str) -> str | None:
    """The file name of a font as in `files`, such as "text-1a2b3c4d5e6f.woff2" for the face "text".

    None if npm has not fetched the font.
    """
    return next((name for name in files() if name.startswith(f"{face}-")), None)


def css(address: Callable[[str], str]) -> str:
    """The style sheet that declares the fetched fonts, and the font families of text and formulas.

    In an embed whose figure is not ready, text and formulas have system fonts, so that no font is loaded.
    address: a function that returns the address of a font file from its name in `files`.
    """
    faces = [
        f'@font-face {{ font-family: "{family}"; src: url("{address(name)}") format("woff2");'
        f" font-display: swap; {rest} }}"
        for family, file, rest in FACES
        if (name := named(file))
    ]
    used = f':root {{ --letters: {STACK}; --formulas: "{MATHEMATICS}", math; }}'
    later = f"{STILL} {{ --letters: {OTHERS}; --formulas: math; }}"
    return "\n".join([*([NOTICE] if faces else []), *faces, used, later, ""])


def beside(name: str) -> str:
    """The address of a font file for a style sheet next to the folder `lib`, which contains the fonts."""
    return f"lib/{name}"


def inside(name: str) -> str:
    """The data URL of a font file, for a style sheet in which the fonts are embedded."""
    return f"data:font/woff2;base64,{base64.b64encode(files()[name]).decode()}"
