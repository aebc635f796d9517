"""Scenes outside of the explorer: embeds, files of every kind, and the static site."""
