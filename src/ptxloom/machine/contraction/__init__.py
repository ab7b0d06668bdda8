"""How ptxas fuses `mul` and `add` without a rounding: into one `fma`, rounded once (its `--fmad=true`, the default).

PTX ISA 9.7.3 allows it: "an add instruction with no rounding modifier [...] may be optimized aggressively". How ptxas
uses that was found in its machine code; `docs/decisions/contraction.md` has the rules and their consequences.
`straight` finds the stretches of code that ptxas treats as one, `products` the uses in one, `choice` decides what is
fused, `rewrite` writes the PTX.
"""
