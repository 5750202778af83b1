"""Reading in a process of its own, for libraries that end the process over damaged files.

`python -m raytracer.scene.particles.isolated MODULE VARIANT FILE` writes the arrays that the
function `parse` of a module in `formats/` returns to standard output, as an .npz archive.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, UserError, shown
from raytracer.files.access import OpenFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIMEOUT_VARIABLE = "RAYTRACER_READ_TIMEOUT"
"""Environment variable: seconds that a library may take over a file; 0 is no limit."""

LEAST_SECONDS = 120.0
"""Seconds that a library may take over any file: also on a machine that is busy."""

SLOWEST = 1e5
"""Bytes in a second that a library reads at least; those here read more than ten times as many."""


def parsed(file: OpenFile, module: str, variant: str, what: str) -> dict[str, NDArray[Any]]:
    """Return the arrays that a module parses a file to.

    Args:
        file: the file.
        module: in `formats/`; its `parse(path, variant)` returns arrays by name.
        variant: for that function.
        what: what messages call the format.

    Raises:
        DataFileError: the file is damaged, of another format, or takes too long.
    """
    from tempfile import TemporaryFile

    from raytracer.files.npz import Archive

    with TemporaryFile() as output:
        limit = time_limit(file.size)
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", __spec__.name, module, variant, file.name],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, check=False,
                pass_fds=(file.file.fileno(),), timeout=limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise DataFileError(
                f"{file.source}: took longer than {limit:,.0f} s to be read as {what}, so it is "
                f"likely damaged; {TIMEOUT_VARIABLE} sets another limit, 0 none"
            ) from None
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            why = f" ({shown(lines[-1], 160)})" if lines and done.returncode == 1 else ""
            raise DataFileError(f"{file.source}: is damaged, or no {what} file{why}")
        output.seek(0)
        stream: Any = output
        with Archive(OpenFile(stream, file.path, file.source)) as archive:
            return {name: archive.array(name) for name in archive.members}


def time_limit(size: int) -> float | None:
    """Return the seconds that a library may take over a file of so many bytes; None is no limit.

    Raises:
        UserError: the environment variable is no number of seconds.
    """
    text = os.environ.get(TIMEOUT_VARIABLE, "").strip()
    if not text:
        return LEAST_SECONDS + size / SLOWEST
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not (isfinite(seconds) and seconds >= 0.0):
        raise UserError(
            f"{TIMEOUT_VARIABLE}: '{shown(text, 40)}' is not a number of seconds, 0 or above"
        )
    return seconds or None


def main(module: str, variant: str, path: str) -> int:
    """Write the arrays of a file to standard output; return the exit status.

    It is 1, with a sentence on standard error, where the file cannot be read.
    """
    import warnings

    import numpy as np

    warnings.simplefilter("ignore")
    name = f"raytracer.scene.particles.formats.{module}"
    try:
        arrays = import_module(name).parse(path, variant)
    except BaseException as problem:  # that of chemfiles is no Exception
        print(str(problem).partition("\n")[0] or type(problem).__name__, file=sys.stderr)
        return 1
    np.savez(sys.stdout.buffer, **arrays)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
