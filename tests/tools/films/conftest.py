"""The fixtures of tests/geometry/conftest.py, for the tests of this folder too."""

from tests.geometry.conftest import batch, double_precision, rng, xp  # noqa: F401
