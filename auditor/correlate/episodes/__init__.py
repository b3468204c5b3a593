"""Break-glass episodes and their five steps."""
