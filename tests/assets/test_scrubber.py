"""The positions of the buttons along the clock's slider; each button plays an event of a training."""

import numpy as np
import pytest

from tests.assets.engine import Node


@pytest.mark.parametrize(
    ("places", "spread"),
    [
        ([], []),
        ([0.2, 0.5, 0.9], [0.2, 0.5, 0.9]),
        ([0.2, 0.2, 0.25], [0.2, 0.27, 0.34]),
        ([0.5, 0.98, 0.98, 0.99], [0.5, 0.86, 0.93, 1]),
    ],
)
def test_buttons_of_events_are_apart_and_end_with_the_slider(places, spread):
    with Node() as node:
        np.testing.assert_allclose(node.ask("spread", places=places), spread)
