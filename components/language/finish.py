"""Finish a recipe that a scene has built: validate it, then compute the ranges of its axes."""

from dataclasses import replace

from components.language.checks import check
from components.language.framing import framed
from components.language.recipe import Recipe


def finished(recipe: Recipe) -> Recipe:
    """The recipe with ranges for all axes, ready to be shown. Raises WrongRecipe if it is invalid."""
    check(recipe)
    clouds, views = framed(recipe)
    return replace(recipe, clouds=clouds, views=views)
