"""In how many layers a sheet (a grid of points) covers the sphere, direction by direction."""

import numpy as np

from components.language.marks import Sheet
from geometry.clouds import golden

DIRECTIONS = 4000
AT_ONCE = 200


def layers(recipe, stage):
    """For each of DIRECTIONS evenly spread directions, how many triangles of a sheet lie in this direction.

    Directions are seen from the origin. The sheet is the only mark `Sheet` of the recipe's first view. It is
    taken at the stage with the number `stage`, with the default parameters.
    """
    [sheet] = [mark for mark in recipe.views[0].layers if isinstance(mark, Sheet)]
    points = recipe.cloud(sheet.cloud).stages(recipe.defaults)[stage][:, :3]
    a, b, c = np.moveaxis(points[sheet.triangles], 1, 0)
    sides = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
    sides *= np.sign((a * sides[0]).sum(-1))[None, :, None]
    found = [
        ((sides @ some.T) > 0).all(0).sum(0) for some in np.split(golden(DIRECTIONS), DIRECTIONS // AT_ONCE)
    ]
    return np.concatenate(found)


def covered(count):
    """The share of the directions that a sheet covers at least once; count: the result of `layers`."""
    return (count > 0).mean()


def folded(count, times):
    """Of the directions that a sheet covers, the share that it covers exactly `times` times.

    count: the result of `layers`.
    """
    return (count == times).sum() / (count > 0).sum()
