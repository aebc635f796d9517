"""Pictures of recipes: Plotly figures, SVG, thumbnails and link previews."""
