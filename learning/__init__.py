"""Small neural networks: data sets, training, weights at checkpoints (films), analysis.

The subpackages record and convert the norms of other people's models.
"""
