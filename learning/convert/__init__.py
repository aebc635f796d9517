"""Norms taken into their neighbours, and what is lost where that is not exact."""
