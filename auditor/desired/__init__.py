"""What git says that objects should be, at a revision: history, what an application reads, and rendering."""
