"""Component trees as HTML text."""

from html.parser import HTMLParser
from itertools import pairwise

import pytest
from dash import dcc, html
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from components.pages.markup import VOID, attributes, element, written


class Reader(HTMLParser):
    """Parses HTML as a browser does, into nested lists [tag, attributes, *children]."""

    def __init__(self, text):
        super().__init__()
        self.open = [["", {}]]
        self.feed(text)
        self.close()
        assert len(self.open) == 1, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.open[-1].append([tag, dict(attrs)])
        if tag not in VOID:
            self.open.append(self.open[-1][-1])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        *_, last = self.open[-1]
        if isinstance(last, str) and len(self.open[-1]) > 2:
            self.open[-1][-1] += data
        else:
            self.open[-1].append(data)


def read(text):
    return Reader(text).open[0][2:]


TEXTS = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=8)
TAGS = {"Div": "div", "Section": "section", "H1": "h1", "Label": "label", "MapEl": "map"}


def node(tag, name, inner):
    """A pair: a component, and the nested list that a browser makes of its HTML.

    tag, name: the component's class in `dash.html`, and its class in CSS. inner: such a pair for each child.
    For a child that is a text, the pair is the text twice.
    """
    trees, wanted = [tree for tree, _ in inner], [want for _, want in inner]
    return getattr(html, tag)(trees, className=name), [TAGS[tag], {"class": name}, *wanted]


def apart(inner):
    """Whether no two neighbouring children are texts, which a browser would merge.

    inner: for each child, a pair (component, its HTML as a nested list); for a text, the text twice.
    """
    return not any(isinstance(a, str) and isinstance(b, str) for (a, _), (b, _) in pairwise(inner))


TREES = st.recursive(
    TEXTS.map(lambda text: (text, text)),
    lambda inner: st.builds(node, st.sampled_from([*TAGS]), TEXTS, st.lists(inner, max_size=3).filter(apart)),
    max_leaves=6,
)


@given(TREES)
def test_a_browser_reads_the_tree_that_was_written(made):
    """A browser parses the written HTML into the same tree, for any texts and attributes."""
    tree, want = made
    assert read(written(tree)) == [want]


def test_names_are_those_of_html():
    field = element("input", {"type": "number", "min": 1, "required": True, "value": None})
    tree = html.Label([field, None, 3], htmlFor="x", **attributes(aria_label="<&", data_none=None))
    number = ["input", {"type": "number", "min": "1", "required": None}]
    assert read(written(tree)) == [["label", {"for": "x", "aria-label": "<&"}, number, "3"]]


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (html.Div(hidden=False), "<div></div>"),
        (html.Div(hidden=True), "<div hidden></div>"),
        (html.Button("x", n_clicks=2, key="k"), "<button>x</button>"),
        (html.P("<b>"), "<p>&lt;b&gt;</p>"),
        (html.P(title="t", **attributes(data_b=1, data_a=2)), '<p title="t" data-a="2" data-b="1"></p>'),
        (html.P(Markup("<b>x</b>")), "<p><b>x</b></p>"),
        ([None, [], ["a", html.Br()]], "a<br>"),
        (element("i", {"aria-hidden": True}), '<i aria-hidden="true"></i>'),
        (element("i", {"aria-busy": False}), '<i aria-busy="false"></i>'),
    ],
)
def test_what_is_written(tree, text):
    assert written(tree) == text


@pytest.mark.parametrize(
    "tree",
    [
        dcc.Graph(),
        html.Div(style={"color": "red"}),
        html.Div(dcc.Store(id="x")),
        {"a": 1},
        element("p", {}, (word for word in "ab")),
    ],
)
def test_what_is_no_html_is_an_error(tree):
    with pytest.raises(TypeError, match="HTML"):
        written(tree)
