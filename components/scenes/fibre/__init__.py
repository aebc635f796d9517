"""What LayerNorm forgets: a plane of vectors for each pair of antipodal points."""

from components.scene import Choice, Scene
from components.scenes.fibre.build import build

SCENE = Scene(
    slug="fibre",
    title="What LayerNorm forgets",
    lead="Half a plane of vectors goes to one point. What told them apart is gone.",
    order=16,
    build=build,
    choices=(Choice("show", "Show", "fibre", {"fibre": "a fibre", "axes": "the matrix Π"}),),
)
