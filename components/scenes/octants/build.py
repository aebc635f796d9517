"""The recipe of a network that learns points of a sphere, cut into eight octants.

It shows the points layer by layer, and the network's output on the sphere.
"""

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Mesh
from components.language.recipe import Recipe, View
from components.language.scene import Choices, Training
from components.scenes.networks import CAMERA, SATURATED_LOGIT, SPHERE_VIEW_REACH, assembled, classes, network
from components.scenes.scenery import space
from components.scenes.sheets import round_sheet
from components.scenes.trained import own, seed_of
from geometry.clouds import sphere_mesh
from learning.datasets import DataSet, octants
from learning.film import Film
from learning.network import Network

MIN_POINT_RADIUS = 0.99  # if a point is nearer to the origin, the sphere is translucent
GLASSY_OPACITY = 0.45


def task(choices: Choices) -> tuple[Network, DataSet]:
    """The network that the choices describe, and the data set that it learns."""
    return Network(3, choices["width"], choices["depth"], 1, choices["middle"]), data(choices)


def data(choices: Choices) -> DataSet:
    """The reader's own points in space, or points of the sphere whose labels depend on their octant."""
    return own(choices["points"], 3) if choices["data"] == "own" else octants(choices["n"], seed=0)


def build(choices: Choices, film: Film) -> Recipe:
    seed = seed_of(choices, film)
    return assembled(film, seed, round_sheet(film, seed), ball(film, seed), choices["curve"])


def ball(film: Film, seed: int) -> tuple[View, tuple[Cloud, ...]]:
    """View of the unit sphere coloured by the network's output, with the data points, and its cloud.

    The sphere is translucent if some data points are inside it.
    """
    net, show = network(film, seed), rows(np.eye(3), stage=0)
    points, order = sphere_mesh()
    color = Color("diverging", -SATURATED_LOGIT, SATURATED_LOGIT, of=Row((1,), stage=len(net.steps)))
    inside = np.linalg.norm(film.data.points, axis=-1).min() < MIN_POINT_RADIUS
    title = "the decision on the unit sphere" if inside else "the decision on the input"
    globe = Mesh(
        "globe", "sphere", show, triangles=order, color=color, opacity=GLASSY_OPACITY if inside else 1
    )
    shown = (globe, *classes(film, show, size=5 if inside else 3))
    return space("ball", title, shown, camera=CAMERA, reach=SPHERE_VIEW_REACH), (Cloud("globe", points, net),)


TRAINING = Training(task, films=lambda choices: ("octants",))
