"""Views that follow a running simulation (in situ visualization)."""
