"""A case readied to be told: its changes numbered, its records cited, its events in order, its objects in few words."""
