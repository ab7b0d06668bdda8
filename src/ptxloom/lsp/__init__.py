"""The language server: answers an editor's requests about a PTX text from its tree and the ISA data.

The features are plain functions over a `Document`; only `server`, `features` and `convert` speak the protocol.
"""
