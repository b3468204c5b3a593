"""Who sent a request and by what: actor rules, channels, and the people whom Argo CD names for its server."""
