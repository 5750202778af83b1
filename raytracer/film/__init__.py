"""Films and the pictures made of them: sums of samples, files, statistics, tone curves."""
