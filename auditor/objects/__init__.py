"""What a Kubernetes object is: its kinds, paths, schema, patches, defaults, and which of its values are secret."""
