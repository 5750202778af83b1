"""Starts the `raytracer` command and `python -m raytracer`.

Importing the command takes longer than starting Python. Until then, Ctrl-C ends the process at
once: an exception could come up in any imported module, and there is nothing to clean up yet.

Most objects that an import makes stay until the end. Looking for garbage among them after every few
hundred new ones, as Python does by default, takes 3% of a small render.
"""

import _signal  # type: ignore[import-not-found]
import gc
import os
import sys

NEW_OBJECTS = 50_000  # new objects after which Python looks for garbage


def main() -> int:
    gc.set_threshold(NEW_OBJECTS)
    # Where SIGINT is ignored (nohup), it stays so.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _quit)
    from raytracer.commands import cli
    from raytracer.system import process

    return process.run(cli.main, cli.report_stop)


def _quit(*_: object) -> None:
    try:
        os.write(2, b"raytracer: stopped by Ctrl-C\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
