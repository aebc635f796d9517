"""What a shader declares, read from its source: until it is compiled nobody asks WebGL."""

import pytest

from tests.assets.engine import Node

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


@pytest.fixture(scope="module")
def node():
    with Node() as process:
        yield process


def test_uniforms_are_found_with_types_and_sizes(node):
    found = node.ask("declared", source=SOURCE, kind="uniform")
    assert [(each["name"], each["type"], each["size"]) for each in found] == [
        ("model", "mat4", 1),
        ("view", "mat4", 1),
        ("projection", "mat4", 1),
        ("clipBounds[0]", "vec3", 2),
        ("opacity", "float", 1),
    ]


def test_attributes_are_found(node):
    found = node.ask("declared", source=SOURCE, kind="attribute")
    assert [each["name"] for each in found] == ["position", "nextPosition", "arcLength"]
