"""Training on the server: what may be asked, who waits, who does it, and where the runs are kept."""
