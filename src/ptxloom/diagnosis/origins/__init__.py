"""Where the elements of products and results come from, put together instruction by instruction."""
