"""The web server: HTTP routes beside those of Dash, rate limits, security headers, pictures."""
