"""Opening sources and reading documents in bounded memory, for all collectors."""
