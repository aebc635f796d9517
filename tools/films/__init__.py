"""Make the data files in films/: trained networks and tables of experiments. One module for each scene.

A film is a file with the weights of networks at checkpoints of their training.
"""
