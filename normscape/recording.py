"""Record the normalisation layers of a PyTorch model, and show them in a notebook or a Dash application."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learning.recording.checked import opened
from learning.recording.digest import Digest, digest
from learning.recording.recorder import Recorder
from learning.recording.recording import MAX_VECTORS, Recording

if TYPE_CHECKING:
    from normscape.figure import Figure


class Seen(Recorder):
    """A recording of a model's norms, in progress or finished; `record` yields it."""

    def show(self, **state: Any) -> Figure:
        """A widget that shows the recorded layers in the scene `model`.

        The data is kept for 30 days, in CACHE_DIR or in Redis. Raises ValueError if nothing has been recorded
        yet, and StoreUnavailable if nothing can be stored.

        Parameters
        ----------
        **state
            Choices, parameters, `progress`, `follow` and `camera` of the scene, as for `Figure`.

        Returns
        -------
        Figure
        """
        from components.scenes.model import SCENE
        from normscape import Figure

        return Figure(SCENE.slug, **own(self.recording) | state)


def record(
    model: Any,
    *,
    vectors: int = MAX_VECTORS,
    seed: int = 0,
    name: str = "",
    tell: Callable[[str], None] | None = None,
) -> AbstractContextManager[Seen]:
    """Record the inputs of a PyTorch model's normalisation layers while the `with` block runs.

    A LayerNorm, RMSNorm or GroupNorm module is recognised by what it computes. Only a module that looks like
    a norm is tried: its class name contains "norm", its only parameters are one or two vectors, or its name
    in the model is one such as `ln_1`. Forward hooks sample the inputs of the recognised modules, and are
    removed afterwards. Padding that a mask marks is left out.

    Parameters
    ----------
    model : torch.nn.Module
        The model; call it within the block.
    vectors : int
        The number of input vectors that are kept for each layer, from 1 to 2,000 (the default).
    seed : int
        Seed of the random choice of these vectors.
    name : str
        The model's name in the recording, its figures and tables. By default it is the last part of the name
        or path in the model's configuration, or else the name of the model's class.
    tell : function of a str, optional
        Called with messages on progress, and at the end on each norm that was not recorded. By default,
        messages are printed to stderr; if stderr is not a terminal, those on progress are left out.

    Returns
    -------
    context manager of Seen
        `seen.save(path)` writes the recording to a file, `seen.recording` returns it, and `seen.show()` shows
        it in a notebook.

    Raises
    ------
    TypeError
        If `model` is no module of PyTorch, or `name` is not a str.
    ValueError
        If no normalisation layer of the model is recognised, `vectors` is out of range, or the model is being
        recorded already.

    Examples
    --------
    >>> import torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LayerNorm(3))
    >>> with record(model, name="step 1000", tell=lambda message: None) as seen:
    ...     output = model(torch.ones(5, 4))
    >>> seen.recording.name
    'step 1000'
    >>> [(norm.path, norm.kind, norm.x.shape) for norm in seen.recording.norms]
    [('1', 'layer_norm', (5, 3))]
    >>> seen.save("mine.safetensors")
    """
    from learning.convert import centring, contributions

    how: dict[str, Any] = {"verdicts": centring, "contributions": contributions, "tell": tell}
    return Seen(model, vectors=vectors, seed=seed, name=name, **how).listening()


def own(seen: Seen | Recording | str | Path) -> dict[str, str]:
    """Store a recording, and return the choices with which the scene `model` shows it.

    Only what the scene shows is stored, for 30 days, in the folder CACHE_DIR or in Redis.

    Parameters
    ----------
    seen : Seen, Recording, str or Path
        What `record` yields, its recording, or the path of a file that `record` or the command
        `normscape record` has written.

    Returns
    -------
    dict
        {"own": key}, for `Figure("model", **own(…))` or `Scene("model", choices=own(…))`.

    Raises
    ------
    TypeError, ValueError
        If `seen` is none of these, or has recorded nothing yet.
    FileError, OSError
        If the file cannot be read.
    StoreUnavailable
        If nothing can be stored.

    Examples
    --------
    >>> import torch
    >>> norm = torch.nn.LayerNorm(3)
    >>> with record(norm, tell=lambda message: None) as seen:
    ...     output = norm(torch.eye(3))
    >>> list(own(seen))
    ['own']
    """
    from components.pages import recordings

    if not isinstance(seen, Recorder | Recording | str | Path):
        raise TypeError(f"own takes a recording or the path of its file: got {type(seen).__name__}")
    seen = seen.recording if isinstance(seen, Recorder) else seen
    found = seen if isinstance(seen, Recording) else opened(seen)
    return {"own": recordings.kept(found if isinstance(found, Digest) else digest(found), client="")}
