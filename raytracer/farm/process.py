"""The program of a local worker: `python -m raytracer.farm.process DESCRIPTOR`.

It reads calls from the inherited socket and answers each. It ends when the other side has ended.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from multiprocessing.connection import Connection

from raytracer.errors import RaytracerError, shown
from raytracer.files import output


def main(descriptor: int) -> None:
    """Make calls until the socket with this descriptor is closed."""
    # Ctrl-C goes to all processes of a terminal; the first one ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit)
    with Connection(descriptor) as connection:
        while True:
            try:
                message = connection.recv_bytes()
            except (EOFError, OSError):
                return
            try:
                call, arguments = pickle.loads(message)
                answer = True, call(*arguments)
            except Exception as error:
                answer = False, _sent(error)
            try:
                connection.send(answer)
            except OSError:
                return


def _exit(*_: object) -> None:
    """Remove temporary files and exit without an exception, which code anywhere could catch."""
    output.tidy()
    os._exit(128 + signal.SIGTERM)


def _sent(error: BaseException) -> BaseException:
    """Return an exception that can be pickled; unless it is a UserError, its text has the trace."""
    if not isinstance(error, RaytracerError):
        import traceback

        trace = "".join(traceback.format_exception(error))
        error.add_note(f"on a worker:\n{trace}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(shown(str(error), 200))
    return error


if __name__ == "__main__":
    main(int(sys.argv[1]))
