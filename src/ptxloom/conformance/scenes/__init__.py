"""Scenes: kernels for instructions whose results depend on more than their operands; a case is a CTA.

A scene is enumerated from a form like a path of one instruction, and has the same kind of name; `@` and the setup
follow: the place of a factor, the type and layout of a tensor, the modes of a texture.
"""

from ptxloom.conformance.scenes.every import scenes
from ptxloom.conformance.scenes.scene import Scene

__all__ = ["Scene", "scenes"]
