"""The pages of the explorer: home, scenes, story, glossary, guides; panels for trainings and files."""
