"""`python -m raytracer` is the `raytracer` command."""

import sys

from raytracer.cli import main

if __name__ == "__main__":
    sys.exit(main())
