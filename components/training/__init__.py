"""Training on the server: orders, the queue, workers, and stored runs; and recipes of what was trained."""
