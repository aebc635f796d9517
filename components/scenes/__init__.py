"""The scenes: one folder each, and modules that several scenes share."""
