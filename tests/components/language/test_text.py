import re
from itertools import groupby
from xml.etree import ElementTree

import pytest

from components.language.scene import scenes
from components.language.text import (
    Text,
    _markdown,
    formula,
    heading,
    line,
    mathml,
    pieces,
    plain,
    prose,
    read,
)
from components.training.recipes import state_of
from tests.scenes.rules import keep

TEXT = r"""# Some & more

A lead,
of two lines.

## What you see
A *point* $x$ & a formula:

$$\class{stage-1}{x - \mu}$$

| a | b |
| - | - |
| 1 | 2 |

## Why
Because.

## A tour

### First <stop>
@ progress=1 gamma1=-1.5 camera=1,2,3
Look at $\gamma$.

Twice.

### Second
@
Nothing moves.

## Questions

### What is $\mu$?
The mean.

### And $\sigma$?
The *spread*.
"""


@pytest.fixture
def text(tmp_path):
    (tmp_path / "text.md").write_text(TEXT, "utf-8")
    return read(tmp_path / "text.md")


def test_prose_comes_before_tour_and_questions(text):
    for piece in ("<em>point</em>", "<math", "<h2>Why</h2>", "<table>", 'display="block"', "stage-1"):
        assert piece in text.html
    assert "tour" not in text.html and "Look" not in text.html and "The mean" not in text.html


def test_stops_have_a_state(text):
    first, second = text.tour
    assert first.state == {"progress": "1", "gamma1": "-1.5", "camera": "1,2,3"} and second.state == {}
    assert first.title == "First &lt;stop&gt;" and "<math" in first.html and "@" not in first.html
    assert second.html == "<p>Nothing moves.</p>\n"


def test_questions_have_answers(text):
    (first, answer), (_, other) = text.questions
    assert "<math" in first and "<p>" not in first and answer == "<p>The mean.</p>\n" and "<em>" in other
    assert list(text.json()) == ["tour"]


def test_title_and_lead_stand_first_and_are_no_prose(tmp_path, text):
    assert heading(tmp_path / "text.md") == ("Some & more", "A lead, of two lines.")
    assert "Some" not in text.html and "lead" not in text.html


@pytest.mark.parametrize(
    "words", ["", "No title.", "## What you see\n", "Before it.\n# Title\n", "# \n\nLead."]
)
def test_a_text_without_a_title_is_an_error(tmp_path, words):
    (tmp_path / "text.md").write_text(words, "utf-8")
    with pytest.raises(ValueError, match="must begin with a line '# its title'"):
        heading(tmp_path / "text.md")


def test_a_text_may_be_prose_alone(tmp_path):
    (tmp_path / "text.md").write_text("# Title\n\n## Why\nOnly this.", "utf-8")
    assert read(tmp_path / "text.md") == Text("<h2>Why</h2>\n<p>Only this.</p>\n", (), ())


def test_a_stop_without_a_state_is_an_error(tmp_path):
    (tmp_path / "text.md").write_text("## A tour\n\n### Here\nLook.\n", "utf-8")
    with pytest.raises(ValueError, match="'Here' must begin with a line '@"):
        read(tmp_path / "text.md")


def test_a_line_does_not_break_between_a_formula_and_its_comma():
    touched, alone, bracketed = (line(text) for text in ("along $w$, as", "the $w$ as", "a vector ($w$)"))
    assert re.fullmatch(r'along <span class="unbroken"><span class="math.*</span>,</span> as', touched)
    assert "unbroken" not in alone
    assert re.fullmatch(r'a vector <span class="unbroken">\(<span class="math.*</span>\)</span>', bracketed)


def test_mathml_keeps_classes():
    root = ElementTree.fromstring(mathml(r"\class{stage-2 role-sphere}{\frac{x}{\lVert x \rVert}}"))
    assert [e.get("class") for e in root.iter() if e.get("class")] == ["stage-2 role-sphere"]


STOPS = {"layernorm": range(5, 9), "rmsnorm": range(5, 9)}
TOUR_OF_A_RECORDING = range(3, 9)  # if a choice divides the stops into several tours


EVERY = pytest.mark.parametrize("scene", scenes().values(), ids=scenes())


@EVERY
def test_every_scene_has_a_tour_of_a_few_stops(scene):
    assert scene.text.html and "$" not in scene.text.html
    count = len(scene.text.tour)
    if by := scene.tour_choice:
        usual = next(choice.default for choice in scene.choices if choice.name == by)
        subjects = [stop.state.get(by, usual) for stop in scene.text.tour]
        tours = [(subject, len(list(stops))) for subject, stops in groupby(subjects)]
        assert len(dict(tours)) == len(tours), "the stops of a tour stand together"
        keep("stops", scene.slug, all(n in TOUR_OF_A_RECORDING for _, n in tours), str(tours))
        return
    keep("stops", scene.slug, count in STOPS.get(scene.slug, range(4, 9)), count)


@EVERY
def test_every_scene_has_three_questions_at_least(scene):
    questions = scene.text.questions
    answered = sum(bool(question and answer) for question, answer in questions)
    keep("questions", scene.slug, 3 <= answered == len(questions), f"{answered} with an answer")


@EVERY
def test_a_stop_is_a_state_of_the_figure(scene):
    for stop in scene.text.tour:
        assert stop.title and stop.html
        state_of(scene, stop.state)  # raises for an unknown name or value
        own = {"theme", "controls", "tour"} & stop.state.keys()
        keep("stop states", scene.slug, not own, f"{', '.join(sorted(own))} in the stop {stop.title!r}")


ASKING = """## A tour

### Guess
@ progress=1
? Is $x$ a *point*?
- no
- * yes, in $d$ dimensions

It is.
"""


def test_a_stop_may_ask_first(tmp_path):
    (tmp_path / "text.md").write_text(ASKING, "utf-8")
    (stop,) = read(tmp_path / "text.md").tour
    assert "<math" in stop.question and "<em>point</em>" in stop.question and stop.html == "<p>It is.</p>\n"
    assert len(stop.answers) == 2 and stop.answers[0] == "no" and stop.right == 1
    assert stop.answers[1].startswith("yes, in <") and "<math" in stop.answers[1]


@pytest.mark.parametrize(
    "answers", ["", "- * yes", "- yes\n- no", "- * yes\n- * no", "\n".join(["- * yes", *["- no"] * 9])]
)
def test_a_question_has_answers_and_one_is_right(tmp_path, answers):
    (tmp_path / "text.md").write_text(f"## A tour\n\n### Guess\n@\n? Is it?\n{answers}\n\nIt is.\n", "utf-8")
    with pytest.raises(ValueError, match="'Guess' has 2 to 9 answers"):
        read(tmp_path / "text.md")


def test_several_scenes_ask():
    asking = [slug for slug, scene in scenes().items() if any(s.question for s in scene.text.tour)]
    assert len(asking) >= 4


@pytest.mark.parametrize(
    ("latex", "edges"),
    {
        r"\class{a}{\gamma \odot} x": 1,
        r"x \class{a}{+ \beta}": 1,
        r"x \class{a}{\; = \; y}": 0,
        r"\class{a}{x + y} - z": 0,
    }.items(),
)
def test_operators_at_the_edge_of_a_piece_keep_their_room(latex, edges):
    """An operator at the edge of a part that has a class is marked as infix, so that it keeps its spacing.

    Otherwise browsers would treat it as a sign, as in −x. An operator with explicit spaces is not marked.
    edges: the number of operators that are marked.
    """
    found = ElementTree.fromstring(mathml(latex))
    assert [mo.get("form") for mo in found.iter() if mo.tag.endswith("mo")].count("infix") == edges


def test_a_long_formula_is_written_in_pieces():
    told = r"a \quad \class{stage-1}{b \quad c} \allowbreak = d"
    assert pieces(told) == [("a", False), (r"\class{stage-1}{b \quad c}", False), ("= d", True)]
    found = formula(told)
    assert found.count("<math") == 3 and found.count('<math class="on"') == 1
    assert formula("x") == mathml("x", display="block")


def test_angles_are_brackets():
    found = ElementTree.fromstring(mathml(r"\langle q, k \rangle"))
    forms = {mo.text: mo.get("form") for mo in found.iter() if mo.tag.endswith("mo")}
    assert forms == {"⟨": "prefix", ",": None, "⟩": "postfix"}


def test_a_paragraph_names_its_stages():
    found = prose("Before.\n\n@ stage=centre\nIt *falls*,\nfar.\n\n@ stage=γ, β | 3\n- a\n- b\n\nAfter.\n")
    assert '<div class="passage" data-stages="centre"><p>It <em>falls</em>,\nfar.</p>' in found
    assert '<div class="passage" data-stages="γ, β | 3"><ul>' in found
    assert found.startswith("<p>Before.</p>") and found.endswith("<p>After.</p>\n") and "@" not in found


@pytest.mark.parametrize(
    "line", ["@", "@ stage=", "@ stage= | 1", "@ stage=1 | 1", "@ stages=1", "@ progress=1"]
)
def test_a_line_that_names_no_stage_is_refused(line):
    with pytest.raises(ValueError, match="over 'Words"):
        prose(f"{line}\nWords.\n")


def test_a_part_of_the_prose_is_folded_away():
    found = prose("Before.\n\n<details>\n<summary>More</summary>\n\n**Lead.** *Far*.\n\n</details>\n")
    assert "<details>" in found and "</details>" in found
    assert "<p><strong>Lead.</strong> <em>Far</em>.</p>" in found
    assert plain("<summary>More</summary><p>Lead.</p>") == "More Lead."


def test_a_parser_of_markdown_is_complete_before_any_thread_has_it():
    """The Markdown parser compiles its rules before threads share it; otherwise HTML can be incomplete."""
    parser = _markdown.__wrapped__()
    chains = parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2
    assert all(ruler.__cache__ for ruler in chains)
