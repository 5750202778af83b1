"""Starts `command.py`, whose modules are found below `tests`."""

import sys
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    sys.exit(import_module("reference.peers.command").main(sys.argv[1:]))
