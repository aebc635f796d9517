"""Public functions for converting checkpoints: `convert` folds norms, `certify` compares two models."""

from learning.convert.conversion import certify, convert

__all__ = ["certify", "convert"]
