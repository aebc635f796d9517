"""The pages: their document, the gallery, a scene, and how a training is asked for and followed."""
