"""Record the normalisation layers of a reader's own model, and show them in a notebook or a Dash
application.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learning.recording.digest import Digest, digest, opened
from learning.recording.recorder import Recorder
from learning.recording.recording import Recording

if TYPE_CHECKING:
    from normscape.figure import Figure


class Seen(Recorder):
    """A recording in progress or finished, the result of `record`."""

    def show(self, **state: Any) -> Figure:
        """A widget with the scene of these layers. Its data is kept for 30 days, in CACHE_DIR.

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


def record(model: Any, **how: Any) -> AbstractContextManager[Seen]:
    """As `learning.recording.record`, with verdicts on folding, the norms' sources, and `show`."""
    from learning.convert import centring, contributions

    return Seen(model, verdicts=centring, contributions=contributions, **how).listening()


def own(seen: Recording | str | Path) -> dict[str, str]:
    """The choices for the scene `model` that show a recording, or a recording's file.

    What it is made of is kept as long as runs are (CACHE_DIR). Raises FileError, OSError;
    StoreUnavailable where it cannot be kept.
    """
    from components.pages import recordings

    found = seen if isinstance(seen, Recording) else opened(seen)
    return {"own": recordings.kept(found if isinstance(found, Digest) else digest(found), client="")}
