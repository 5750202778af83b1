"""Helpers of the tests: scenes, pictures and what they are compared with."""
