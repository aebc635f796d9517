"""What the norms of a reader's own model do, in a notebook: recorded, and shown there."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from learning.recording.digest import digest
from learning.recording.recorder import Recorder

if TYPE_CHECKING:
    from normscape.figure import Figure


class Seen(Recorder):
    """What `record` gives."""

    def show(self, **state: Any) -> Figure:
        """The scene of these norms. What it is made of is kept as long as runs are (CACHE_DIR)."""
        from components.pages import recordings
        from components.scenes.model import SCENE
        from normscape import Figure

        return Figure(SCENE.slug, own=recordings.kept(digest(self.recording), client=""), **state)


def record(model: Any, **how: Any) -> AbstractContextManager[Seen]:
    """As `learning.recording.record`, with `show` for what was seen."""
    return Seen(model, **how).listening()
