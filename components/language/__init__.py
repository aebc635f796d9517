"""The words of a scene: clouds, marks, recipes and what they cannot mean, links and texts."""
