"""How commands are asked and how they answer: options, talk, tables, JSON, and the workspace they run in."""
