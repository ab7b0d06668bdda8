"""Look-ups of textures, as the texture units of an H200 make them, bit by bit."""
