"""The film and the pictures made of it: sums of samples, film files, statistics, tone, PNG."""
