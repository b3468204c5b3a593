"""Page one: the three answers, what is unresolved, and how far the records reach, whatever the number of changes."""
