"""Make the data files in films/: trained networks and tables of experiments, a module for each scene."""
