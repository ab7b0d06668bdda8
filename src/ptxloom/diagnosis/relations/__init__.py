"""Results that no product makes: which elements of other arrays each is computed from, and whether all are alike."""
