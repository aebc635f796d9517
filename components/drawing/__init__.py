"""A recipe as a picture: colours by role, Plotly figures, and stills in SVG."""
