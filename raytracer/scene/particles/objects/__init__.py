"""Readers of objects of other packages; none of them imports the package."""
