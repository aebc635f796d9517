"""The scenes: one folder each."""
