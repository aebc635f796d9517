"""The text of a scene: Markdown with formulas, a tour and questions, converted to HTML and MathML.

The file `text.md` begins with `# title` and the lead, which is plain text. Three sections have a fixed form:

## A tour      a `### stop` for each stop. Its first line `@ progress=2 gamma1=1.5` is the stop's state. It
               may be followed by a question that readers are asked before they see the stop: lines `?
               question`, `- answer`, and `- * answer` for the right answer
## Questions   a `### question` for each question, and its answer
## Sources     keys of texts/sources.md, separated by commas

All other sections are prose. There, a line `@ stage=centre` above a paragraph names the stage that the
paragraph explains, or several stages: `@ stage=centre | 3`. The index of a stage, counted from 0, can replace
its name, where names are not unique. Stages that the recipe does not have are ignored. Details for few
readers are folded away between the lines `<details>`, `<summary>title</summary>` and `</details>`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from html import unescape
from itertools import takewhile
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

# ⊙, + or = at the beginning or end of a piece with a class
MATHML_EDGE_SPACE = re.compile(
    r'(?P<first><mrow class="[^"]*">)?<mo>(?P<sign>&#x(?:02299|0002B|0003D);)</mo>(?(first)|(?=</mrow>))'
)
TEX_SPACE = re.compile(r"\\q?quad\b|(\\allowbreak\b)")
MATHML_BAR = re.compile("<mo[^>]*>(&#x(?:0007C|02016);)</mo>")
# Exponents, roots and fractions in MathML that contain no others; `plain` replaces the innermost ones first.
MATHML_POWER = re.compile(
    r"(<m[ino][^>]*>[^<]*</m[ino]>|<mrow>(?:(?!<mrow|<msqrt).)*?</mrow>)</msu(?:p|bsup)>"
)
MATHML_ROOT = re.compile(r"<msqrt>((?:(?!<msqrt|<mfrac).)*?)</msqrt>")
MATHML_FRACTION = re.compile(
    r"<mfrac><mrow>((?:(?!<mfrac|<msqrt).)*?)</mrow><mrow>((?:(?!<mfrac|<msqrt).)*?)</mrow></mfrac>"
)
# an inline formula with the signs that touch it
TOUCHED_FORMULA = re.compile(r"""([(“]*)(<span class="math inline">.*?</span>)((?:'s)?[,.;:!?)”]*)""")
SUPERSCRIPTS = str.maketrans("-−+0123456789", "⁻⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹")
MAX_CACHED_FORMULAS = 100
MAX_ANSWERS = 9  # to the question of a tour stop; each has a digit key
# a line that names stages, and the paragraph below it
STAGE_PASSAGE = re.compile(r"^@(.*)\n((?:.+\n)+)", re.M)


@dataclass(frozen=True)
class Stop:
    """A stop of the tour: its title and text as HTML, and its state as the names and values of a query.

    question  what readers are asked before they see the stop, as HTML; "" for nothing
    answers   the answers that they can choose, as HTML
    right     the index of the right answer
    """

    title: str
    state: dict[str, str]
    html: str
    question: str = ""
    answers: tuple[str, ...] = ()
    right: int = 0  # index of the correct answer in `answers`


@dataclass(frozen=True)
class Text:
    """The text of a scene: prose, tour and pairs (question, answer) as HTML, and the keys of sources."""

    html: str
    tour: tuple[Stop, ...]
    questions: tuple[tuple[str, str], ...]
    sources: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """The tour as JSON for the player, which shows it stop by stop. All else is in the page's HTML."""
        return {"tour": [vars(stop) for stop in self.tour]}


def mathml(latex: str, *, display: str = "inline") -> str:
    r"""LaTeX → MathML. `\class{name}{…}` becomes an element with this class, for style sheets and the player.

    ⊙, + and = get the spacing of an infix operator also at the edge of such an element. ⟨ and ⟩ become
    brackets; | and ‖ become as high as a letter, without space around them. display: "block" for a formula
    on a line of its own, "inline" for one inside a text.
    """
    found = convert(latex, display=display)
    for bracket, form in (("&#x027E8;", "prefix"), ("&#x027E9;", "postfix")):
        found = found.replace(f"<mi>{bracket}</mi>", f'<mo form="{form}" stretchy="false">{bracket}</mo>')
    found = MATHML_BAR.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', found)
    return MATHML_EDGE_SPACE.sub(r'\g<first><mo form="infix">\g<sign></mo>', found)


@lru_cache(MAX_CACHED_FORMULAS)
def formula(latex: str) -> str:
    r"""LaTeX → one `<math>` element for each of its `pieces`. Between elements a long formula can break.

    The element of a piece after `\allowbreak` has the class `on`, because it continues the formula before it.
    """
    found = ((mathml(piece, display="block"), goes_on) for piece, goes_on in pieces(latex) if piece)
    return "".join(each.replace("<math ", '<math class="on" ', 1) if on else each for each, on in found)


def pieces(latex: str) -> list[tuple[str, bool]]:
    r"""Split LaTeX at `\quad`, `\qquad` and `\allowbreak`, except inside braces.

    Returns pairs (piece, on): `on` says whether the piece comes after an `\allowbreak`, and so continues the
    formula before it.
    """
    found, start, on = [], 0, False
    for gap in TEX_SPACE.finditer(latex):
        before = latex[start : gap.start()]
        if before.count("{") == before.count("}"):
            found.append((before.strip(), on))
            start, on = gap.end(), bool(gap[1])
    return [*found, (latex[start:].strip(), on)]


@cache
def _markdown() -> MarkdownIt:
    def render(latex: str, options: Mapping[str, Any]) -> str:
        return mathml(latex, display="block" if options["display_mode"] else "inline")

    parser = MarkdownIt().enable("table").use(dollarmath_plugin, renderer=render)
    parser.render("a")  # compiles its rules, before several threads can find them half compiled
    return parser


def markdown(text: str) -> str:
    """Markdown → HTML. A line does not break between an inline formula and the signs that touch it."""
    return _unbroken(_markdown().render(text))


def _unbroken(html: str) -> str:
    """The HTML with elements of the class `unbroken` around inline formulas and the signs that touch them."""
    return TOUCHED_FORMULA.sub(
        lambda found: f'<span class="unbroken">{found[0]}</span>' if found[1] or found[3] else found[0], html
    )


def prose(text: str) -> str:
    """Markdown → HTML. A line `@ stage=…` puts the paragraph below it into a `div` that names its stages.

    Raises ValueError for a line `@ …` that names no stage, or names a stage twice.
    """
    before, *rest = STAGE_PASSAGE.split(text)
    found = (
        markdown(before),
        *(_passage(*three) for three in zip(*(rest[k::3] for k in range(3)), strict=True)),
    )
    return "".join(found)


def _passage(named: str, words: str, after: str) -> str:
    found = re.fullmatch(r" stage=([^ |].*)", named)
    stages = found[1].split(" | ") if found else []
    if not all(stages) or len(set(stages)) != len(stages) or not stages:
        raise ValueError(
            f"'@{named}' over {words[:40]!r}… names no stages: '@ stage=centre', '@ stage=1 | 3'"
        )
    names = html.escape(" | ".join(stages))
    return f'<div class="passage" data-stages="{names}">{markdown(words)}</div>\n{markdown(after)}'


def line(text: str) -> str:
    """Convert one line of Markdown to HTML without the surrounding `<p>`."""
    return _unbroken(_markdown().renderInline(text))


def plain(html: str) -> str:
    """HTML → text, with formulas in one line such as x²/√(σ² + ε); blocks are separated by spaces."""
    blocks, before = re.sub(r"</(?:p|h2|li|td|th|summary)>", " ", html), ""
    while blocks != before:
        before = blocks
        blocks = MATHML_POWER.sub(lambda power: _exponent(_without_tags(power[1])), blocks)
        blocks = MATHML_ROOT.sub(lambda root: f"√{_operand(_without_tags(root[1]))}", blocks)
        blocks = MATHML_FRACTION.sub(
            lambda part: f"{_operand(_without_tags(part[1]))}/{_operand(_without_tags(part[2]))}", blocks
        )
    return _without_tags(blocks)


def _without_tags(html: str) -> str:
    """The text of HTML, in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def _exponent(text: str) -> str:
    """An exponent as plain text: a prime ′ as it is, a whole number as superscript, all else after ^."""
    if re.fullmatch("[−+0-9]+|′", text):
        return text.translate(SUPERSCRIPTS)
    return f"^{_operand(text)}"


def _operand(text: str) -> str:
    """The text of a subformula as one operand: a text with an operator is put in parentheses.

    Texts such as (a+b) and √(a+b), which have parentheses already, stay as they are.
    """
    bare = re.search(r"[-+−…·/]", text) and not re.fullmatch(r"√?\([^()]*\)", text)
    return f"({text})" if bare else text


def parts(text: str, mark: str) -> tuple[str, list[tuple[str, str]]]:
    """Split Markdown at headings that begin with `mark`, such as "##".

    Returns the text before the first such heading, and pairs (heading, text below it).
    """
    before, *rest = re.split(rf"^{mark} +(.+)$", text, flags=re.M)
    return before, [(title.strip(), body.strip()) for title, body in zip(rest[::2], rest[1::2], strict=True)]


def _stop(title: str, body: str) -> Stop:
    first, _, words = body.partition("\n")
    if not first.startswith("@"):
        raise ValueError(f"the stop {title!r} must begin with a line '@ name=value …'")
    state = dict(item.split("=", 1) for item in first[1:].split())
    question, answers, words = _guess(words)
    right = [k for k, answer in enumerate(answers) if answer.startswith("* ")]
    if question and (not 2 <= len(answers) <= MAX_ANSWERS or len(right) != 1):
        wanted = f"has 2 to {MAX_ANSWERS} answers '- …', one of them '- * …'"
        raise ValueError(f"the question of the stop {title!r} {wanted}")
    return Stop(
        html.escape(title),
        state,
        markdown(words),
        line(question),
        tuple(line(answer.removeprefix("* ")) for answer in answers),
        *right,
    )


def _guess(body: str) -> tuple[str, list[str], str]:
    """Split off the question at the beginning of a tour stop, which readers answer before they see the stop.

    Returns the question, its answers and the remaining text; without a question, "", [] and the whole text.
    """
    first, *lines = body.strip().split("\n")
    if not first.startswith("? "):
        return "", [], body
    answers = list(takewhile(lambda each: each.startswith("- "), lines))
    return first[2:].strip(), [each[2:].strip() for each in answers], "\n".join(lines[len(answers) :])


@cache
def heading(path: Path) -> tuple[str, str]:
    """The title and the lead of a `text.md`. Raises ValueError if the file does not begin with a title."""
    mark, *found = re.split(r"^# +(.+)$", parts(path.read_text("utf-8"), "##")[0], flags=re.M)
    if mark or len(found) != 2:
        raise ValueError(f"{path} must begin with a line '# its title'")
    return found[0].strip(), " ".join(found[1].split())


@cache
def read(path: Path) -> Text:
    """Parse a `text.md`, except its title and its lead. Raises ValueError for an invalid stop or `@` line."""
    named = dict(parts(path.read_text("utf-8"), "##")[1])
    tour, questions, sources = (named.pop(each, "") for each in ("A tour", "Questions", "Sources"))
    sections = "".join(f"\n## {title}\n\n{body}\n" for title, body in named.items())
    return Text(
        prose(sections),
        tuple(_stop(*part) for part in parts(tour, "###")[1]),
        tuple((line(q), markdown(a)) for q, a in parts(questions, "###")[1]),
        tuple(key.strip() for key in sources.split(",") if key.strip()),
    )
