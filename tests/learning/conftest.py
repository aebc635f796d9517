"""The same setup as for tests/geometry."""

from tests.geometry.conftest import batch, double_precision, rng, xp  # noqa: F401
