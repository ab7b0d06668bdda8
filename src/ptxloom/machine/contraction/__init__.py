"""What ptxas makes of `mul` and `add` without a rounding: one `fma`, rounded once (its `--fmad=true`, the default).

PTX ISA 9.7.3 allows it: "an add instruction with no rounding modifier [...] may be optimized aggressively". What ptxas
does with that was read off its machine code; `docs/decisions/contraction.md` has the rules and what follows from them.
`straight` finds the stretches of code that ptxas takes as one, `products` who uses what in one, `choice` what is fused,
`rewrite` says so in PTX.
"""
