"""One page for each exercise: the answer with its reasons, how it is checked, and the usual mistakes by name."""
