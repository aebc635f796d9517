"""Fold the norms of a checkpoint into their neighbours, from Python."""

from learning.convert.conversion import certify, convert

__all__ = ["certify", "convert"]
