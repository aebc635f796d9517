"""Make recorded norms with random parameters and vectors, and recordings of them."""

import numpy as np

from learning.recording.recording import Norm, Recording


def norm(path="h.0.ln_1", kind="layer_norm", n=9, d=6, *, groups=1, eps=1e-5, mean=0.5, seed=0, **parts):
    rng, numbers = np.random.default_rng(seed), np.arange(n)
    given = {"gamma": rng.normal(1, 0.3, d), "beta": rng.normal(0, 0.3, d), "x": rng.normal(mean, 1, (n, d))}
    given = {name: each.astype(np.float32) for name, each in given.items()}
    given |= {"position": numbers, "token": numbers % 3, "number": numbers} | parts
    return Norm(path, kind, eps, groups, len(given["x"]), **given)


def recording(*norms):
    return Recording(
        norms or (norm(), norm("ln_f", "rms_norm", seed=1)), "a model", {0: "a", 1: " b", 2: "é"}
    )
