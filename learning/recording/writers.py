"""Which operations write a norm's input, read from PyTorch's autograd graph.

Where every summand is a Linear's output, an embedding or a constant, each can lose its mean beforehand. Then
the vectors come centred, and LayerNorm is RMSNorm, exactly (the scene `absorb`). PyTorch's graph is met as
what it is, so this file needs no PyTorch.
"""

from __future__ import annotations

from typing import Any

SAME = (
    "View",
    "UnsafeView",
    "ReshapeAlias",
    "Transpose",
    "Permute",
    "ToCopy",
    "Clone",
    "Slice",
    "Expand",
    "Alias",
)
SUMS = tuple(f"{name}Backward" for name in ("Add", *SAME))
WRITERS = ("EmbeddingBackward", "AddmmBackward", "MmBackward", "LinearBackward", "MkldnnLinearBackward")
SCALED = "MulBackward"  # by a constant it is linear
PARAMETER = "AccumulateGrad"
TURNED = (
    "TBackward",
    "TransposeBackward",
    "PermuteBackward",
    "ToCopyBackward",
)  # what a weight may go through


def linear(x: Any) -> bool | None:
    """Whether a tensor is a sum of outputs of Linears, embeddings and constants; None without gradients.

    A dropout that drops, a norm, and a product of what a model computes are none of these.
    """
    if x.grad_fn is None:
        return None
    todo, seen = [x.grad_fn], set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        name, before = node.name(), [each for each, _ in node.next_functions if each is not None]
        if name.startswith(SUMS) or (name.startswith(SCALED) and _by_number(node)):
            todo += before
        elif not (PARAMETER in name or (name.startswith(WRITERS) and _by_weights(node))):
            return False
    return True


def _by_number(node: Any) -> bool:
    """Whether a product has a constant number for its other factor, not one for each coordinate."""
    one, other = (each is None for each, _ in node.next_functions)
    factor = node._saved_other if other else node._saved_self if one else None
    return one != other and (factor is None or factor.numel() == 1)


def _by_weights(node: Any) -> bool:
    """Whether the last factor of a product is a parameter, or a constant, not something computed."""
    factor = node.next_functions[-1][0]
    while factor is not None and factor.name().startswith(TURNED):
        factor = factor.next_functions[0][0]
    return factor is None or PARAMETER in factor.name()
