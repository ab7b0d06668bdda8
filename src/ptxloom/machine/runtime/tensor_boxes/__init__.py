"""What a tensor map says of a box, and which bytes its rows are: numbers alone, no memory is touched."""
