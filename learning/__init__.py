"""Small networks and language models: data sets, training, films of training, and their analysis."""
