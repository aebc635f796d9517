"""Scenes outside of the explorer: embeds, exported files, the static site; and their commands."""
