"""WebGL programs: compiled at first use, uniforms set only if changed, depth cues, one context per figure."""

import re

from components.drawing import depth
from components.web.server import LIGHT

SOURCE = """
#define GLSLIFY 1
precision mediump float;
attribute vec3 position, nextPosition;
attribute float arcLength;
uniform mat4 model, view, projection;
uniform vec3  clipBounds[2];
uniform highp float opacity; // uniform float not_this;
/* uniform vec2 nor_this; */
varying vec4 color;
void main() { gl_Position = vec4(position, 1.0); }
"""


def test_the_declared_uniforms_have_the_names_types_and_sizes_that_webgl_would_name(node):
    assert [(each["name"], each["type"], each["size"]) for each in node.ask("declared", source=SOURCE)] == [
        ("model", "mat4", 1),
        ("view", "mat4", 1),
        ("projection", "mat4", 1),
        ("clipBounds[0]", "vec3", 2),
        ("opacity", "float", 1),
    ]


def test_a_program_is_compiled_when_it_is_first_used(node):
    told = node.ask("compileLazily", source=SOURCE)
    assert told["before"] == ["shaderSource", "attachShader"]
    assert told["after"] == ["compileShader", "linkProgram", "useProgram", "getUniformLocation", "uniform1f"]
    assert told["located"] and not told["reports"]


def test_a_program_whose_declarations_cannot_be_read_is_compiled_at_once_and_reported(node):
    told = node.ask("compileLazily", source=SOURCE.replace("opacity;", "opacity = 1.0;"))
    assert told["before"][2:] == ["compileShader", "linkProgram", "getUniformLocation"]
    assert told["after"] == ["useProgram", "uniform1f"]
    assert told["located"] and len(told["reports"]) == 1 and '"shaders"' in told["reports"][0]


TYPES = {"model": "mat4", "clipBounds": ["vec3", "vec3"], "opacity": "float", "texture": "sampler2D"}
TYPES |= {"light": {"place": "vec3"}}


def test_a_uniform_is_set_where_it_changes(node):
    """All uniforms are set at first, then only changed ones, and all again after other code has set one."""
    model, low, high = list(range(16)), [0, 0, 0], [1, 1, 1]
    given = {"model": model, "clipBounds": [low, high], "opacity": 1, "texture": 0, "light": {"place": low}}
    moved = given | {"model": [*model[:-1], 99], "clipBounds": [low, [1, 2, 1]], "opacity": 0.5}
    every = [
        ["uniformMatrix4fv", "model", False, model],
        ["uniform3fv", "clipBounds[0]", low],
        ["uniform3fv", "clipBounds[1]", high],
        ["uniform1f", "opacity", 1],
        ["uniform1i", "texture", 0],
        ["uniform3fv", "light.place", low],
    ]
    turns = [given, given, moved, {"opacity": 0.5}, None, {"opacity": 0.5}, given]
    told = node.ask("uniforms", types=TYPES, turns=turns)
    assert told[:2] == [every, []]
    assert told[2] == [
        ["uniformMatrix4fv", "model", False, moved["model"]],
        ["uniform3fv", "clipBounds[1]", [1, 2, 1]],
        ["uniform1f", "opacity", 0.5],
    ]
    assert told[3:6] == [[], [["uniform1f", "opacity", 7]], [["uniform1f", "opacity", 0.5]]]
    assert told[6] == every


def test_the_shaders_that_plotly_draws_points_with_get_depth(node):
    """In the served plotly.js, exactly the shaders that draw points get the patch for depth cues.

    A patched shader declares all names that the patch uses.
    """
    sources = re.findall(r"`([^`]*void main\(\)[^`]*)`", LIGHT.read_text())
    made = node.ask("deep", sources=sources, depth=depth.BROWSER_NUMBERS)
    changed = {old: new for old, new in zip(sources, made, strict=True) if old != new}
    glyphs = [old for old in changed if "attribute vec2 glyph" in old]
    pixels = [old for old in changed if "interpColor * opacity" in old]
    assert glyphs == [old for old in sources if "attribute vec2 glyph" in old and "highlightId" in old]
    assert len(glyphs) == 3 and len(pixels) == 1
    assert sorted(changed) == sorted(glyphs + pixels) and len(changed) < len(sources)
    for old, new in changed.items():
        used = set(re.findall(r"\bdeep[A-Z]\w*", new)) - set(re.findall(r"\bdeep[A-Z]\w*", old))
        body, head = new.split("void main()")[::-1]
        declared = re.findall(r"(?:uniform|varying|vec[234]|float) [^;=]*", head + body)
        assert all(any(re.search(rf"\b{name}\b", each) for each in declared) for name in used)
        assert new.count("{") == new.count("}") and new.count("(") == new.count(")")
    assert node.ask("deep", sources=[SOURCE], depth=depth.BROWSER_NUMBERS) == [SOURCE]


def test_figures_that_are_built_at_the_same_time_have_contexts_of_their_own(node):
    assert node.ask("within") == [["first"], ["second"], []]
