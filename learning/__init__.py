"""What is learnt: networks, data sets, training, films of it, and the events in them."""
