"""Text with meaning, and numbers, values and moments as people say them."""
