"""ptxloom's verbs as tools of the Model Context Protocol: `ptxloom mcp`.

`folder` says which files may be named, `asking` runs a verb in a process of its own with limits, `tools` says what can
be asked and how that is a command line, `server` speaks the protocol.
"""
