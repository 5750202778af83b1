"""Confinement of a process that reads files for libraries: no connections, programs or other files.

An audit hook refuses what Python code tries. Where the kernel has them, a network namespace and
Landlock refuse the same to compiled code, which the hook cannot see.
"""

import errno
import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from raytracer.config.errors import quote

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000  # flags of unshare
NO_NEW_PRIVILEGES = 38  # of prctl
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls, the same on all machines
VERSION_FLAG, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR = 1, 2, 4, 8, 16  # rights of Landlock
RIGHTS = (0, 13, 14, 15)  # numbers of rights over files by the version; later ones have more
TCP_VERSION, TCP = 4, 3  # first version with rights over connections: to bind and to connect
SCOPE_VERSION, SCOPES = 6, 3  # first version that keeps from sockets and processes outside

CONNECTIONS = frozenset(
    ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname",
     "socket.gethostbyaddr", "socket.getnameinfo", "urllib.Request", "ftplib.connect",
     "http.client.connect")
)  # fmt: skip
PROGRAMS = frozenset(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn"))
"""Audit events."""

SYSTEM = ("/usr", "/lib", "/lib64", "/opt", "/nix/store", "/gnu/store", "/System", "/Library",
          "/sys/devices", "/sys/fs/cgroup", "/etc/ld.so.cache", "/etc/localtime", "/dev/null",
          "/dev/urandom", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat",
          "/proc/self/status", "/proc/self/cgroup", "/proc/self/maps", "/proc/self/stat",
          "/proc/self/statm", "/proc/self/mountinfo")  # fmt: skip
"""What programs need of the system, to import further modules and to know the free memory."""

OWN_FILES = "raytracer.files.access"  # the module that checks what it opens

_folders: list[str] = []  # real paths that may be read, once the process is confined
_pinned: list[int] = []  # descriptors that keep files of /proc, to which rules belong


def leave_network() -> None:
    """Move this process, which must have a single thread, to a network of its own, if it may."""
    with suppress(OSError, AttributeError):
        import ctypes

        user, group = os.getuid(), os.getgid()
        # A user that is none of the superuser needs a namespace of users for one of networks.
        flags = NEW_NETWORK | (NEW_USER if os.geteuid() else 0)
        if ctypes.CDLL(None).unshare(flags) == 0 and flags & NEW_USER:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def confine(readable: Iterable[str], file: int, scratch: str) -> None:
    """Refuse connections, programs, and all files but those of installed packages, for good.

    Args:
        readable: folders of the file that is read.
        file: its descriptor.
        scratch: folder for temporary files, which alone may be written.
    """
    if _folders:
        return
    tempfile.tempdir = os.environ["TMPDIR"] = scratch
    modules = (getattr(each, "__file__", None) for name, each in list(sys.modules.items())
               if "." not in name)  # fmt: skip
    packages = {os.path.dirname(each) for each in modules if each}  # noqa: PTH120
    programs = {*SYSTEM, *sys.path, sys.prefix, sys.base_prefix, sys.exec_prefix, *packages,
                *os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)}  # fmt: skip
    _restrict([*filter(os.path.isabs, programs), *readable], file, scratch)
    _folders.extend(map(os.path.realpath, [*filter(os.path.isabs, programs), scratch]))
    sys.addaudithook(_check)  # last, since it costs time when modules are imported


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse what an audit event announces, by a PermissionError with the reason."""
    if event in CONNECTIONS:
        _refuse("it refers to an address, which a reader does not open")
    if event in PROGRAMS:
        _refuse("it would start a program")
    if event == "open" and sys._getframe(1).f_globals.get("__name__") != OWN_FILES:
        path = arguments[0]
        if isinstance(path, (str, bytes)) and not _may_open(os.fsdecode(path)):
            _refuse(f"it refers to '{quote(os.fsdecode(path))}', which a reader does not open")


def _may_open(path: str) -> bool:
    if path.startswith(("/dev/fd/", "/proc/self/fd/")):  # of a file that is open
        return path.rpartition("/")[2].isdecimal()
    return is_below(os.path.realpath(path), _folders) or path in SYSTEM


def _refuse(why: str) -> NoReturn:
    raise PermissionError(errno.EACCES, why)


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a real path is one of others, or in one of them."""
    return any(path == each or path.startswith(f"{each.rstrip('/')}/") for each in folders)


def _restrict(readable: Iterable[str], file: int, scratch: str) -> None:
    """Let the kernel refuse other files, and connections, where it has Landlock."""
    import ctypes
    import struct

    try:
        call = ctypes.CDLL(None, use_errno=True).syscall
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):  # not Linux
        return
    version = call(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG)
    if version < 1 or not sys.platform.startswith("linux"):
        return
    rights = (1 << RIGHTS[min(version, len(RIGHTS) - 1)]) - 1
    attributes = [rights, *([TCP] if version >= TCP_VERSION else []),
                  *([SCOPES] if version >= SCOPE_VERSION else [])]  # fmt: skip
    packed = struct.pack(f"{len(attributes)}Q", *attributes)
    rules = call(CREATE_RULESET, packed, ctypes.c_size_t(len(packed)), 0)
    if rules < 0:
        return

    def allow(descriptor: int, what: int) -> None:
        if not os.path.isdir(f"/proc/self/fd/{descriptor}"):  # noqa: PTH112
            what &= EXECUTE | WRITE_FILE | READ_FILE
        call(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", what & rights, descriptor), 0)

    allow(file, READ_FILE)
    allowed = [(each, READ_FILE | READ_DIR) for each in readable]
    allowed += [("/dev/null", READ_FILE | WRITE_FILE), (scratch, rights & ~EXECUTE)]
    allowed += [(os.path.dirname(scratch), REMOVE_DIR)]  # noqa: PTH120 - to remove it at the end
    for path, what in allowed:
        with suppress(OSError):
            _pinned.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
            allow(_pinned[-1], what)
    prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    call(RESTRICT_SELF, rules, 0)
    os.close(rules)
