"""Small neural networks: data sets, training, weights at checkpoints (films), analysis.

Two subpackages are about the norms of other people's models: `recording` records the vectors that reach
them, and `convert` folds them into other weights.
"""
