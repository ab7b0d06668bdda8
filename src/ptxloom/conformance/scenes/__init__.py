"""Scenes: kernels around instructions whose results do not depend on their operands alone; a case is a CTA.

A scene is enumerated from a form as a path of one instruction is, and has a name of the same kind; behind `@` stands
what it sets up: where a factor lies, the type and layout of a tensor, how a texture is read.
"""

from ptxloom.conformance.scenes.every import scenes
from ptxloom.conformance.scenes.scene import Scene

__all__ = ["Scene", "scenes"]
