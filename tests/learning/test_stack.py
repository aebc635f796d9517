"""Blocks in a row: a comparison with PyTorch's functions, and effects of the norm, for random weights."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from learning import stack


def test_other_codes_block():
    """A block gives the same as PyTorch's functions, for random weights and each kind of norm."""
    (own,), x = stack.drawn(8, 1, 5, seed=3)
    t = {name: torch.from_numpy(w) for name, w in own.items()}
    for kind in stack.STREAM_KINDS:
        norm = {"none": lambda x: x, "rms_norm": lambda x: functional.rms_norm(x, (8,), eps=stack.EPS)}.get(
            kind, lambda x: functional.layer_norm(x, (8,), eps=stack.EPS)
        )
        before, after = (norm, lambda x: x) if kind != "post_ln" else (lambda x: x, norm)
        y = torch.from_numpy(x)
        n = before(y)
        q, k, v = (n @ t[name] for name in ("query", "key", "value"))
        attended = functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
        y = after(y + 0.7 * attended @ t["out"])
        y = after(y + 0.7 * functional.gelu(before(y) @ t["first"]) @ t["second"])
        np.testing.assert_allclose(stack.block(kind, own, x, 0.7), y.numpy(), atol=1e-12)


@pytest.mark.parametrize("kind", ["rms_norm", "layer_norm"])
def test_a_branch_in_a_norm_does_not_see_the_size(kind):
    """With a norm, attention adds the same to a stream x and to 10x, except for the effect of ε.

    Without a norm, attention adds different vectors to x and to 10x.
    """
    (own,), x = stack.drawn(8, 1, 5, seed=4)
    own = own | {"second": 0 * own["second"]}  # attention alone reads the stream as it came
    added = [stack.block(kind, own, scale * x) - scale * x for scale in (1, 10)]
    np.testing.assert_allclose(added[0], added[1], atol=1e-4)
    assert np.abs(stack.block("none", own, 10 * x) - 10 * x - (stack.block("none", own, x) - x)).max() > 0.1


def test_after_the_sum_the_stream_is_on_the_sphere():
    blocks, x = stack.drawn(8, 3, 5, seed=4)
    for stream in stack.streams("post_ln", blocks, x, 0.5)[1:]:
        np.testing.assert_allclose(np.linalg.norm(stream, axis=-1), np.sqrt(8), rtol=1e-4)
        assert np.abs(stream.sum(-1)).max() < 1e-12


def test_a_later_token_changes_no_earlier_one_and_fewer_blocks_are_the_first():
    blocks, x = stack.drawn(8, 3, 5, seed=5)
    other = x.copy()
    other[-1] += 1
    for kind in stack.STREAM_KINDS:
        a, b = stack.streams(kind, blocks, x), stack.streams(kind, blocks, other)
        assert all((one[:-1] == two[:-1]).all() for one, two in zip(a, b, strict=True))
    fewer, same = stack.drawn(8, 2, 5, seed=5)
    assert (same == x).all() and all((fewer[1][name] == blocks[1][name]).all() for name in blocks[1])
