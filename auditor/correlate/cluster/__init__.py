"""What became of a value in the cluster: the other half of the verdict, what Argo CD sees, and what comes next."""
