"""Small networks and language models: data sets, training, weights at checkpoints (films), and analysis."""
