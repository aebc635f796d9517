"""What answers: the routes beside Dash, what a client may cost, headers, the server itself."""
