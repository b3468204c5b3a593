"""Templates and styles of the reports: a package, so that the installed program finds its own."""
