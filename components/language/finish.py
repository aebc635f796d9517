"""Finish a recipe: check what its scene has written, then compute the ranges of the axes."""

from dataclasses import replace

from components.language.checks import check
from components.language.framing import framed
from components.language.recipe import Recipe


def finished(recipe: Recipe) -> Recipe:
    """The recipe with framed views, ready to be shown. Raises WrongRecipe if it is invalid."""
    check(recipe)
    clouds, views = framed(recipe)
    return replace(recipe, clouds=clouds, views=views)
