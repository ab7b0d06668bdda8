"""The structs that launches, CTAs and warps point to (`runtime.state`), as native code and Python share them."""
