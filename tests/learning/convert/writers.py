"""Measure how much each module writes to a norm's input, to test the numbers in a recording.

For each architecture, hooks record the outputs of the modules that are known to write to the residual stream.
"""

import numpy as np
import pytest
import torch

WRITERS = {
    "GPT2": {"wte": "embedding", "wpe": "embedding", "attn.c_proj": "attention", "mlp.c_proj": "MLP"},
    "Llama": {"embed_tokens": "embedding", "self_attn.o_proj": "attention", "mlp.down_proj": "MLP"},
    "Mixtral": {"embed_tokens": "embedding", "self_attn.o_proj": "attention", "mlp": "MLP"},
    "Gemma2": {
        "embed_tokens": "embedding",
        "post_attention_layernorm": "attention",
        "post_feedforward_layernorm": "MLP",
    },
    "GPTNeoX": {"embed_in": "embedding", "attention.dense": "attention", "mlp.dense_4h_to_h": "MLP"},
}


def written(model, writers, run):
    """Call `run()`, which runs the model; return {module path: (kind, output (rows, d))}, in order of calls.

    writers: {end of a module's path: kind}, where a kind is a word such as "attention"; other modules are
    left out. An output for one sequence, such as position embeddings, is repeated for the others.
    """
    found, handles = {}, []
    for path, module in model.named_modules():
        kind = next((kind for end, kind in writers.items() if path.endswith(end)), None)
        if kind is not None:

            def keep(module, args, output, path=path, kind=kind):
                out = output[0] if isinstance(output, tuple) else output
                found[path] = kind, out.double().numpy()

            handles.append(module.register_forward_hook(keep))
    with torch.no_grad():
        run()
    for handle in handles:
        handle.remove()
    most = max(out.shape[0] for _, out in found.values())
    spread = {path: np.broadcast_to(out, (most, *out.shape[1:])) for path, (_, out) in found.items()}
    return {
        path: (kind, spread[path].reshape(-1, spread[path].shape[-1])) for path, (kind, _) in found.items()
    }


def sums(parts, x):
    """The first k entries of `parts`, for the smallest k for which their outputs add up to x, or None.

    parts: a result of `written`.
    """
    whole = 0
    for k, (_, each) in enumerate(parts.values(), 1):
        whole = whole + each
        if np.allclose(whole, x, atol=1e-4 * np.abs(x).max()):
            return dict(list(parts.items())[:k])
    return None


def agrees(norm, own, close):
    """Assert that the sources recorded for a norm agree with `own`, the outputs that add up to its input x.

    own: the entries of `written` that add up to x (rows, d). close: the tolerance, relative and absolute.

    A module's share of the mean is ⟨n, m⟩/‖m‖²: n (rows,) are the means of the rows of its output, and m
    those of the rows of x. The outlier is one number of x: in the longest row, in the coordinate with the
    largest sum of squares over all recorded vectors. A module's share of the outlier is the number at this
    place in its output, divided by the outlier.
    """
    x = sum(each for _, each in own.values())
    means, row = x.mean(1), np.linalg.norm(x, axis=1).argmax()
    top = (norm.x.astype(float) ** 2).sum(0).argmax()
    mean = {path: each.mean(1) @ means / (means @ means) for path, (_, each) in own.items()}
    outlier = {path: each[row, top] / x[row, top] for path, (_, each) in own.items()}
    for sources, want in ((norm.mean_sources, mean), (norm.outlier_sources, outlier)):
        assert sum(sources.shares.values()) == pytest.approx(1, abs=close)
        for kind, share in sources.shares.items():
            each = sum(value for path, value in want.items() if own[path][0] == kind)
            assert share == pytest.approx(each, rel=close, abs=close), (norm.path, kind)
        largest = max(want, key=lambda path: abs(want[path]))
        assert sources.module.startswith(largest), (norm.path, sources, want[largest])
        assert sources.share == pytest.approx(want[largest], rel=close, abs=close)
