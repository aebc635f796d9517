"""Scenes outside of the explorer, as embeds, exported files or a static site, and the commands for them."""
