"""What one environment has and the other lacks, and why."""
