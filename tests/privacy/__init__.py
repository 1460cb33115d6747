"""Who may see, change and count what: every operation at every door, for every kind of caller."""
