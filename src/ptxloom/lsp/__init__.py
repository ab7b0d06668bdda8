"""The language server: what an editor asks about a PTX text, looked up in the tree and the ISA data.

What it knows is in plain functions over a `Document`; `server` alone speaks the protocol and needs pygls.
"""
