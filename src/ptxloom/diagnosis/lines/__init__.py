"""From what is wrong to the line that is to be changed."""
