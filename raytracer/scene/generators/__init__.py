"""One generator family a file: a module here without a leading underscore defines GENERATOR."""
