"""Training on the server: requests, the queue, workers, stored results, and the recipes that show them."""
