"""Tools to test the numbers in a scene's text.

The test file of a scene has a dictionary CLAIMS from fragments of the text to functions. Each function
computes what its fragment says from the recipe or the shipped films, and asserts it. `test_claims` checks
that CLAIMS cover every number of the text.
"""

import re
from functools import cache
from pathlib import Path

import components.scenes
from components.language.link import State
from components.language.scene import scenes
from components.training.recipes import state_of

WORDS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|thirty"
WORDS += "|hundred|thousand|million|millionth|half|twice|third|quarter|fifth|sixth|eighth|tenth"
# Not claims: exponents, indices, the half of a half-plane, the 2 of a 2-sphere, and years (four digits
# without a comma).
DIGITS = r"(?<![\w.^])(?<![_^]\{)(?!(?:19|20)[0-9]{2}\b)[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?!-sphere)"
COUNTED = re.compile(rf"{DIGITS}|\b(?:{WORDS})s?\b(?!-plane)", re.I)
NAMED = re.compile(r"\b(?:[Pp]anel|[Pp]icture) “([^”]+)”")  # a panel, by its title
UNSAID = re.compile(r"^@ .*$|^[0-9]+\. ", re.M)  # states of stops, and numbers of list items


@cache
def text(slug: str) -> str:
    """The text of a scene, as one line in which all white space is single spaces.

    Left out are the lines `@ …` and the numbers of list items.
    """
    path = Path(components.scenes.__path__[0]) / slug / "text.md"
    return " ".join(UNSAID.sub("", path.read_text("utf-8")).split())


def claims(slug: str) -> list[tuple[int, int]]:
    """The positions (beginning, end) of all numbers in the text of a scene, in digits or in words.

    Positions are indices of characters in `text(slug)`. Left out are exponents, indices, years, the titles of
    panels, and words such as "one" and "first".
    """
    titles = [found.span() for found in NAMED.finditer(text(slug))]
    found = [found.span() for found in COUNTED.finditer(text(slug))]
    return [(a, b) for a, b in found if not any(low <= a and b <= high for low, high in titles)]


def places(slug: str, fragment: str) -> list[tuple[int, int]]:
    """The positions (beginning, end) at which a fragment occurs in `text(slug)`, as character indices."""
    return [found.span() for found in re.finditer(re.escape(fragment), text(slug))]


def body(slug: str, title: str) -> tuple[int, int]:
    """The position (beginning, end) of the text of a stop or question, without its title.

    The position is a pair of character indices in `text(slug)`. title: the title of the stop or question.
    """
    heading = f"### {title} "
    start = text(slug).index(heading) + len(heading)
    end = text(slug).find(" ##", start)
    return start, end if end > 0 else len(text(slug))


def stop(slug: str, title: str) -> State:
    """The state of the figure at a stop of the tour, by the stop's title."""
    scene = scenes()[slug]
    return state_of(scene, next(each.state for each in scene.text.tour if each.title == title))


def said(value: float, words: str) -> None:
    """Assert that a value, rounded to as many decimals as `words` has, is written as `words` ("0.87")."""
    assert f"{value:.{len(words.partition('.')[2])}f}" == words, value
