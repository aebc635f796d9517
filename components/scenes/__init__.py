"""The scenes (interactive figures): one folder for each, and modules that several of them share."""
