"""`raytracer serve` as a process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Served:
    """A server that runs, and the address that it printed."""

    process: subprocess.Popen[str]
    address: str

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it by a signal."""
        self.process.send_signal(number)
        self.process.communicate(timeout=60)


@contextmanager
def served(scene: Path, *options: str, folder: Path) -> Iterator[Served]:
    """Serve a scene until the end of the block.

    Args:
        scene: its file.
        options: of the command.
        folder: the current folder of the process.
    """
    command = [sys.executable, "-m", "raytracer", "serve", str(scene), "--backend", "cpu"]
    command += ["--threads", "1", "--samples", "1", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env=os.environ | {"TMPDIR": str(folder.parent)},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
            assert address, process.stderr and process.stderr.read()
            yield Served(process, address[0])
        finally:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=60)
