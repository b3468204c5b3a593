"""What git says of a value: the course of the desired state, and the git half of the verdict."""
