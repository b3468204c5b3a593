"""One renderer a file: each has a constant `RENDERER`."""
