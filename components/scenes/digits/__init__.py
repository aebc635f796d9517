from components.scene import Choice, Scene
from components.scenes.digits.build import BESIDE, build

SCENE = Scene(
    "digits",
    "Handwritten digits on a sphere",
    "A network that bends space by u_ε alone reads digits; its last hidden layer is a sphere to be turned.",
    choices=(Choice("beside", "beside it", "depth", BESIDE),),
    build=build,
    order=230,
)
