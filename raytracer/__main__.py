"""Starts the `raytracer` command and `python -m raytracer`.

Importing the command takes longer than starting Python. Until then, Ctrl-C ends the process at
once: an exception could come up in any imported module, and there is nothing to clean up yet.

Most objects that an import makes stay until the end. Looking for garbage among them after every few
hundred new ones, as Python does by default, takes 3% of a small render.
"""

import _signal  # type: ignore[import-not-found]
import errno
import gc
import os
import sys

NEW_OBJECTS = 50_000  # new objects after which Python looks for garbage


def main() -> int:
    gc.set_threshold(NEW_OBJECTS)
    # Where SIGINT is ignored (nohup), it stays so.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _quit)
    try:
        from raytracer import cli, process
    except (MemoryError, SystemError, OSError, ImportError) as error:
        if not _is_lack_of_memory(error):
            raise
        os.write(2, b"raytracer: there is not enough memory to start: allow more by ulimit -v\n")
        return 2

    return process.run(cli.main, cli.stopped)


def _is_lack_of_memory(error: Exception) -> bool:
    """Whether an import found no memory; `raytracer.resources` cannot be imported here."""
    if isinstance(error, ImportError):  # of a shared library
        return "failed to map segment" in str(error) or "allocate memory" in str(error)
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return True  # a SystemError: an extension that got no memory and set no exception


def _quit(*_: object) -> None:
    try:
        os.write(2, b"raytracer: stopped by Ctrl-C; nothing was written\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
