"""Products without tensor cores: sums of products, checked term by term against the laws of a matrix product."""
