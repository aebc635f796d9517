"""What is shipped in films/: how each is trained, by the scene that shows it."""
