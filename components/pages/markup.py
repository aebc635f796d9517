"""Convert trees of `dash.html` components to HTML text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dash.development.base_component import Component
from markupsafe import escape

VOID = {"br", "hr", "img", "input", "link", "meta", "source"}  # elements without an end tag
NAMES = {
    "className": "class",
    "htmlFor": "for",
}  # React's names of attributes → HTML's, if they differ in more than case
DASHS_OWN = {"children", "key", "n_clicks", "n_clicks_timestamp", "disable_n_clicks"}


@dataclass(frozen=True)
class Element:
    """An HTML element that `dash.html` cannot express, such as an input or a picture that loads lazily.

    `written` converts it to HTML text, but it is not a Dash component, so Dash cannot render it.
    """

    tag: str
    attributes: Mapping[str, Any]
    children: Any = None


def element(tag: str, attributes: Mapping[str, Any], children: Any = None) -> Any:
    """An `Element` with this tag, these attributes and children.

    Its declared type is Any, so that type checkers accept it among Dash components.
    """
    return Element(tag, attributes, children)


def attributes(**named: Any) -> dict[str, Any]:
    """HTML attributes from keyword arguments, such as {"aria-label": "…"} from aria_label="…".

    Arguments with the value None are left out.
    """
    return {name.replace("_", "-"): value for name, value in named.items() if value is not None}


def written(tree: Any) -> str:
    """The HTML text of a tree, which may consist of components, elements, texts, numbers, None and lists.

    Texts are escaped, unless they are `markupsafe.Markup`, such as formulas. Raises TypeError for anything
    else, such as a component that does not come from `dash.html`.

    The value of an attribute is a text, a number, a bool or None, otherwise TypeError is raised. An attribute
    with None or False is left out, one with True is written without a value. In attributes `aria-…`, True and
    False are written as "true" and "false".
    """
    if isinstance(tree, list | tuple):
        return "".join(map(written, tree))
    if isinstance(tree, Component):
        return written(_element(tree))
    if tree is None:
        return ""
    if isinstance(tree, str | int | float):
        return str(escape(tree))
    if not isinstance(tree, Element):
        raise TypeError(f"{tree!r} is no content of HTML")
    start = f"<{tree.tag}{''.join(_attribute(*each) for each in tree.attributes.items())}>"
    return start if tree.tag in VOID else f"{start}{written(tree.children)}</{tree.tag}>"


def _element(component: Component) -> Element:
    found = component.to_plotly_json()
    if found["namespace"] != "dash_html_components":
        raise TypeError(f"{found['type']} is no element of HTML: dash.html has those")
    # Dash's order of `data-…` and `aria-…` differs from process to process
    named = sorted(found["props"].items(), key=lambda prop: prop[0] if "-" in prop[0] else "")
    props = {NAMES.get(n, n.lower()): value for n, value in named if n not in DASHS_OWN}
    return Element(found["type"].removesuffix("El").lower(), props, found["props"].get("children"))


def _attribute(name: str, value: Any) -> str:
    if name.startswith("aria-") and isinstance(value, bool):
        value = str(value).lower()
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    if not isinstance(value, str | int | float):
        raise TypeError(f"{name}={value!r} is no attribute of HTML")
    return f' {name}="{escape(value)}"'
