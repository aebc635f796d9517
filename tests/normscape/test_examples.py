"""The public API: each function and class is documented in NumPy's style, with an example that runs."""

import doctest
import inspect
import re
import sys

import pytest

import normscape

NAMES = [name for name in normscape.__all__ if name != "register"]  # docs/dash.md has its example


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    thing = getattr(normscape, name)
    [found] = doctest.DocTestFinder(recurse=False).find(thing, name, sys.modules[thing.__module__])
    assert found.examples and doctest.DocTestRunner().run(found).failed == 0


@pytest.mark.parametrize("name", [name for name in NAMES if name.islower()])
def test_a_function_documents_its_parameters_results_and_errors(name):
    function = getattr(normscape, name)
    text = inspect.getdoc(function)
    for heading in ("Parameters", "Returns", "Raises", "Examples"):
        assert f"{heading}\n{'-' * len(heading)}\n" in text, (name, heading)
    documented = text.partition("Parameters\n")[2].partition("Returns\n")[0]
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"^(\w+, )*{parameter}(, \w+)* :", documented, re.M), parameter
