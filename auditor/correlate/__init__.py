"""Correlation: from facts to writes, changes, owners, verdicts and episodes. Pure functions, no I/O."""
