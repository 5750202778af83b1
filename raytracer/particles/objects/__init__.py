"""Readers of objects of other packages, without importing the packages."""
