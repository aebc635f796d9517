"""Run Normscape from a checkout without installing it: `python app.py` does what `normscape` does."""

from normscape.app import create_app, main, wsgi

__all__ = ["create_app", "main", "wsgi"]

if __name__ == "__main__":
    main()
