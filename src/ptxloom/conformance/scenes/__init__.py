"""Scenes: kernels around instructions whose results do not depend only on their operands; a case is a CTA.

A scene is enumerated from a form like a path of one instruction, and has the same kind of name; `@` and the setup
follow: where a factor is, the type and layout of a tensor, how a texture is read.
"""

from ptxloom.conformance.scenes.every import scenes
from ptxloom.conformance.scenes.scene import Scene

__all__ = ["Scene", "scenes"]
