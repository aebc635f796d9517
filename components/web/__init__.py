"""The web server: HTTP routes in addition to Dash's, rate limits, security headers, pictures of scenes."""
