"""Figures that travel: a scene as a page that needs no server, and as points for other programs."""
