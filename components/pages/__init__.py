"""The pages of the explorer: home, scenes, story, glossary, guides; panels for training and uploads."""
