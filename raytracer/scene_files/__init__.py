"""Scene files to the model and back, and the generators that they name."""
