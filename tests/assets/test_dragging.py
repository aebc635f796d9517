"""Which slot (a group of parameters) the browser uses to store that the reader has moved a token.

If no slot is free, a move takes the least recently used one. If the same token is moved again at the same
time of the clock, the new move replaces the previous one in its slot.
"""

from components.language.packing import packed
from components.scenes.particles import SCENE
from components.scenes.particles.motion import PUTS
from components.training.recipes import recipe_of
from tests.assets.engine import Node


def test_a_further_move_replaces_the_one_that_was_made_first():
    recipe = {**packed(recipe_of(SCENE, n="16")), "chosen": {}, "text": None}
    first = list(range(PUTS))
    with Node() as node:
        # the clock stands still, so the second move of token 2 uses the slot of its first move again
        params = node.ask("nudged", recipe=recipe, points=[*first, 2, PUTS])
    assert [params[f"who{k}"] for k in range(PUTS)] == [PUTS, *first[1:]]
