"""The last step in building a recipe: it is validated, then the ranges and zooms of its axes are computed."""

from dataclasses import replace

from components.language.checks import check
from components.language.framing import framed
from components.language.recipe import Recipe


def finished(recipe: Recipe) -> Recipe:
    """A copy of the recipe that is ready to be shown: all views have ranges and, if needed, zooms.

    Guides (axes, planes) are shortened in views without given ranges. Raises WrongRecipe if the recipe is
    invalid.
    """
    check(recipe)
    clouds, views = framed(recipe)
    return replace(recipe, clouds=clouds, views=views)
