"""The public API of `geometry`: examples run, and functions document parameters, results and errors."""

import doctest
import inspect
import sys

import pytest

import geometry

NAMES = [name for name in geometry.__all__ if name not in ("Of", "Placed")]  # these need a cloud or a scene


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name):
    thing = getattr(geometry, name)
    [found] = doctest.DocTestFinder(recurse=False).find(thing, name, sys.modules[thing.__module__])
    assert found.examples and doctest.DocTestRunner().run(found).failed == 0


@pytest.mark.parametrize("name", [name for name in geometry.__all__ if name.islower()])
def test_a_function_documents_its_parameters_results_and_errors(name):
    function = getattr(geometry, name)
    text = inspect.getdoc(function)
    for heading in ("Parameters", "Returns", "Raises", "Examples", "References"):
        assert f"{heading}\n{'-' * len(heading)}\n" in text, (name, heading)
    parameters = text.partition("Returns\n")[0]
    for parameter in function.__annotations__.keys() - {"return"}:
        assert (
            f"\n{parameter} :" in parameters
            or f"\n{parameter}, " in parameters
            or f", {parameter} :" in parameters
        )
