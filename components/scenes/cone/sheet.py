"""The flat, round sheet above the origin, and other shapes in space that `cut` and `lines` share."""

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Mark
from components.language.recipe import View
from components.scenes.scenery import Part, globe, space
from geometry import Normalize, Pipeline
from geometry.pipeline import Step

HEIGHT, RADIUS = 0.6, 1.15
LONGEST = float(np.hypot(HEIGHT, RADIUS))  # from the origin to the edge of the sheet
RINGS, AROUND = 14, 65  # circles of points on the sheet, and points of each
REACH = 1.23
SHOW = rows(np.eye(3))
STAGES = ("before the norm", "normalised")
NORM = Pipeline((Normalize(),))


def sheet_grid() -> np.ndarray:
    """Points (N, 3) of the sheet, the disc at HEIGHT, on rings around its centre."""
    r, angle = np.meshgrid(np.linspace(0, RADIUS, RINGS), np.linspace(0, 2 * np.pi, AROUND), indexing="ij")
    return np.stack([r * np.cos(angle), r * np.sin(angle), np.full_like(r, HEIGHT)], -1).reshape(-1, 3)


def unit_sphere() -> list[Part]:
    return globe(SHOW, np.eye(3), mesh=0.12, net=0.3)


def plane_cloud(height: tuple[Step, ...]) -> Cloud:
    """Cloud from which the marks `Disc` and `Rim` draw the plane {x : height(x) = 0} in space.

    height: the steps of an affine map from a point (3,) to one number. The cloud does not contain points of
    the plane. It has four points with one coordinate each: the values of the map at 0 and at the three unit
    vectors. These values determine the map, and so the plane.
    """
    return Cloud("plane", np.vstack([np.zeros(3), np.eye(3)]), place=Pipeline(height))


def space_view(marks: tuple[Mark, ...]) -> View:
    return space("space", "", marks, camera=(0.65, -1.15, 0.6), reach=REACH)
