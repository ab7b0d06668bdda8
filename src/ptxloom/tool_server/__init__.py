"""ptxloom's verbs as tools of the Model Context Protocol: `ptxloom mcp`.

`folder` decides which files may be named, `asking` runs a verb in a process of its own with limits, `tools` turns
requests into command lines, `server` speaks the protocol.
"""
