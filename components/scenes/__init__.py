"""The scenes, one folder each, and beside them what several share."""
