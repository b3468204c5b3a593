"""What stands behind page one: one section a file, with the rows and facts that fill it."""
