"""Normscape from its checkout, where nothing is installed: `python app.py` is the command `normscape`."""

from normscape.app import create_app, main, wsgi

__all__ = ["create_app", "main", "wsgi"]

if __name__ == "__main__":
    main()
