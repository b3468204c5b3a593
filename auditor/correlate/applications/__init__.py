"""What applications were told and did: states, syncs, freezes, bypasses, and which objects are theirs."""
