"""Compute columns of a report in a second way, with PyTorch, from the inputs that hooks on a model record."""

import pytest
import torch


def heard(model, run):
    """Call `run()`, which runs the model; return {module path: first argument (rows, d) of its first call}.

    Calls whose first argument is no tensor of floats, or that have only named arguments, are left out.
    """
    found, handles = {}, []
    for path, module in model.named_modules():

        def keep(module, args, path=path):
            if args and torch.is_tensor(args[0]) and args[0].is_floating_point():
                found.setdefault(path, args[0].detach().reshape(-1, args[0].shape[-1]).double())

        handles.append(module.register_forward_pre_hook(keep))
    with torch.no_grad():
        run()
    for handle in handles:
        handle.remove()
    return found


def agrees(norm, row, x, special):
    """Assert that `row`, the row of a norm in a report, has the values of `columns` and `dimensions`.

    x (n, d): the inputs of the norm. special: the ids of the special tokens.
    """
    for column, want in columns(norm, x, special).items():
        close = (
            row[column] is None if want is None else row[column] == pytest.approx(want, rel=1e-5, abs=1e-5)
        )
        assert close, (norm.path, column, row[column], want)
    assert row["top_dimensions"] == dimensions(norm, x)


def columns(norm, x, special):
    """The expected values of a norm with inputs x (n, d) in some columns of a report: {column: value}.

    A value is None if no vector counts for the column: for example, if none is massive (longer than ten
    median lengths). special: the ids of the special tokens.
    """
    gamma, beta = (torch.from_numpy(each.copy()).double() for each in (norm.gamma, norm.beta))
    size = x.norm(dim=1)
    middle = size.median() if len(x) % 2 else size.sort().values[len(x) // 2 - 1 : len(x) // 2 + 1].mean()
    massive = size > 10 * middle
    away = x - x.mean(1, keepdim=True)
    variance = (x if norm.kind == "rms_norm" else away).square().mean(1)
    share = 1 - away.square().sum(1) / x.square().sum(1)
    centred, plain = (
        gamma * part / (part.square().mean(1, keepdim=True) + norm.eps).sqrt() + beta for part in (away, x)
    )
    cosine = torch.nn.functional.cosine_similarity(centred, plain, dim=1)
    turn = torch.rad2deg(torch.acos(cosine.clamp(-1, 1)))
    inverse = 1 / (variance + norm.eps).sqrt()
    first = torch.from_numpy(norm.position == 0)
    marked = torch.tensor([int(token) in special for token in norm.token]) & ~first
    found = {
        "gradient": quantile(inverse, 0.5),
        "gradient_high": quantile(inverse, 0.95),
        "gradient_massive": quantile(inverse[massive], 0.5),
        "turn_all": quantile(turn, 0.5),
        "turn_all_high": quantile(turn, 0.95),
        "turn": quantile(turn[~massive], 0.5),
        "turn_high": quantile(turn[~massive], 0.95),
        "float16_overflow": mean(
            (x if norm.kind == "rms_norm" else away).square().half().isinf().any(1) | variance.half().isinf()
        ),
        "top_gain": float(gamma[x.square().sum(0).argmax()].abs()),
    }
    for name, some in (("spread", x[~massive]), ("spread_all", x)):
        found[name] = float(some.var(0, correction=0).sum().sqrt() / middle)
    for kind, chosen in (("first", first), ("special", marked), ("rest", ~(first | marked))):
        found |= {
            kind: quantile(size[chosen] / middle, 0.5),
            f"share_{kind}": quantile(share[chosen], 0.5),
            f"turn_{kind}": quantile(turn[chosen], 0.5),
        }
    for dtype in (torch.bfloat16, torch.float16):
        name = str(dtype).removeprefix("torch.")
        summed = variance.to(dtype) + torch.tensor(norm.eps).to(dtype)
        error = (summed.double() / (variance + norm.eps) - 1).abs()[summed.isfinite()]
        found[f"{name}_error"] = float(error.max()) if len(error) else None
        found[f"{name}_lost"] = mean(summed.isfinite() & (summed == variance.to(dtype)) & (norm.eps > 0))
    return found


def dimensions(norm, x):
    """The expected text of the column `top_dimensions`, such as "5 (93.0%, |γ| 1.2), …".

    It has the three coordinates of x (n, d) with the largest sums of squares over the vectors, largest first:
    number, share of the sum of all squares, and magnitude of the gain.
    """
    energy = x.square().sum(0) / x.square().sum()
    most = energy.topk(3)
    gains = [abs(float(norm.gamma[k])) for k in most.indices]
    each = zip(most.indices.tolist(), most.values.tolist(), gains, strict=True)
    return ", ".join(f"{k} ({share:.1%}, |γ| {gain:.2g})" for k, share, gain in each)


def quantile(values, share):
    return float(values.quantile(share)) if len(values) else None


def mean(flags):
    return float(flags.double().mean())
