"""Run Normscape from a checkout without installing it: `python app.py` does what `normscape` does."""

if __name__ == "__main__":
    from normscape import __main__ as command

    command.main()
else:
    from normscape.app import create_app, main, wsgi

    __all__ = ["create_app", "main", "wsgi"]
