"""The data model of scenes: clouds, marks, recipes, their validation, links and texts."""
