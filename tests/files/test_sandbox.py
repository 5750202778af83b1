"""A confined process: what Python and compiled code can no longer open, and what they still can."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from support.particle_files import write

SCRIPT = """
import ctypes, os, socket, subprocess, sys, tempfile
from pathlib import Path
from raytracer.files import sandbox

sandbox.leave_network()
folder, port = Path(sys.argv[1]), int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
file = os.open(folder / "data" / "a.txt", os.O_RDONLY)
sandbox.confine([str(folder / "data")], file, str(folder / "scratch"))

def opens(name, flags=os.O_RDONLY):
    return libc.open(str(folder / name).encode(), flags, 0o600) >= 0

def fails(work):
    try:
        work()
    except OSError as error:
        return error.strerror
    return ""

def connects():
    address = b"\\2\\0" + port.to_bytes(2, "big") + bytes((127, 0, 0, 1)) + bytes(8)
    return libc.connect(libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0), address, 16) == 0

if libc.syscall(444, None, ctypes.c_size_t(0), 1) >= 4:  # Landlock with rules of connections
    assert opens("data/a.txt") and opens(f"/dev/fd/{file}") and opens("/proc/meminfo")
    assert opens(sandbox.__file__)
    assert not opens("b.txt") and not opens("data/../b.txt") and not opens("data/link.txt")
    assert not opens("/etc/passwd") and not opens("/proc/self/environ")
    assert not opens("data/new.txt", os.O_CREAT | os.O_WRONLY)
    assert not opens("data/a.txt", os.O_WRONLY)
    assert opens("scratch/new.txt", os.O_CREAT | os.O_WRONLY)
    assert not connects()
for name in ("b.txt", "data/b.txt", "/etc/passwd", "/dev/zero"):
    assert fails((folder / name).read_bytes).endswith("which a reader does not open"), name
assert "an address" in fails(lambda: socket.create_connection(("127.0.0.1", port)))
assert "an address" in fails(lambda: socket.getaddrinfo("localhost", port))
assert "a program" in fails(lambda: subprocess.run(["true"]))
with open(f"/dev/fd/{file}") as again, tempfile.TemporaryFile() as scratch:
    assert again.read() == "a"
    assert Path(tempfile.gettempdir()) == folder / "scratch"
import xmlrpc.client  # a module that was not imported yet
print("done")
"""


def test_a_confined_process_opens_its_file_alone(tmp_path: Path) -> None:
    for name in ("data", "scratch"):
        (tmp_path / name).mkdir()
    for name in ("b.txt", "data/a.txt", "data/b.txt"):
        write(tmp_path / name, "a")
    (tmp_path / "data" / "link.txt").symlink_to(tmp_path / "b.txt")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        words = [str(tmp_path), str(listener.getsockname()[1])]
        done = subprocess.run([sys.executable, "-P", "-c", SCRIPT, *words], capture_output=True,
                              text=True, check=False)  # fmt: skip
        assert (done.stdout, done.stderr) == ("done\n", "")
        with pytest.raises(TimeoutError):
            listener.accept()
