"""Results without matrix products: which elements of other arrays each is computed from, and whether all agree."""
