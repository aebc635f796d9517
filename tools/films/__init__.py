"""Make the data files in films/: trained networks, recorded models and tables of experiments.

Most modules are named for the scene that shows their data; `networks` and `language` serve several scenes. A
film is a file with the weights of networks at checkpoints of their training.
"""
