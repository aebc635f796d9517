"""Training the language model: it learns, and gives the same weights each time."""

import numpy as np
import pytest

from learning.language import Shape, forward, losses
from tools.films.language_training import learned

LETTERS = "abcdefgh "


def test_learns_what_comes_after_what():
    """After training on repeated letters, the loss is less than half of log 9, the loss without context.

    Each letter is determined by the previous letter, so a loss of 0 is possible.
    """
    ours, text = Shape(LETTERS, layers=1, window=16), LETTERS * 20
    tokens = ours.tokens(text[:16])
    weights = learned(ours, text, seed=0, steps=150)
    assert losses(forward(ours, weights, tokens).logits, tokens).mean() < np.log(len(LETTERS)) / 2


def test_trains_the_same_each_time():
    ours, text = Shape(LETTERS, layers=1, window=16), LETTERS * 4
    first, again, other = (learned(ours, text, seed=seed, steps=3) for seed in (0, 0, 1))
    assert all((first[name] == again[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_needs_a_text_longer_than_its_window():
    with pytest.raises(ValueError, match="more than 16 characters: got 16"):
        learned(Shape(LETTERS, window=16), "a" * 16, seed=0, steps=1)
