"""Products that no tensor core makes: sums of products, term by term, held to the laws of a matrix product."""
