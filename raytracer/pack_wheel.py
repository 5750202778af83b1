"""Adds the compiled kernels that pictures need to a wheel, for machines without a compiler.

    python -m raytracer.pack_wheel [WHEEL] [--arch sm_90a ...] [-o FOLDER]

Without a wheel, the sources of the current folder are built first. The kernels are compiled from
the sources in the wheel, and lie beside them: an installed package finds them there. Ends with 1 if
a kernel does not compile and with 2 if the wheel or a compiler is missing.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from raytracer import compile_all
from raytracer.files.output import temporary

KERNELS = "raytracer/kernels/"
CUBINS = f"{KERNELS}cubins/"
DATE = (1980, 1, 1, 0, 0, 0)  # of the files that are added: the same input gives the same wheel


def main(arguments: Sequence[str] | None = None) -> int:
    """Pack what the arguments ask for; gives the exit status."""
    parser = compile_all.parser("pack_wheel", "Add compiled kernels to a wheel.")
    parser.add_argument("wheel", nargs="?", type=Path, help="by default, the current folder's")
    options = parser.parse_args(arguments)
    output = options.output or Path("dist")
    with tempfile.TemporaryDirectory(prefix="raytracer-wheel-") as name:
        folder = Path(name)
        wheel = options.wheel or _built(folder)
        if wheel is None:
            return 1
        try:
            kernels = _extracted(wheel, folder)
        except (OSError, zipfile.BadZipFile) as error:
            print(f"{wheel}: is no wheel of this package: {error}", file=sys.stderr)
            return 2
        compiled = folder / "cubins"
        options.kernels, options.output, options.production = kernels, compiled, True
        if status := compile_all.compile_all(options):
            return status
        output.mkdir(parents=True, exist_ok=True)
        target = output / wheel.name
        pack(wheel, sorted(compiled.glob("*.cubin")), target)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")
    return 0


def pack(wheel: Path, files: Sequence[Path], target: Path) -> None:
    """Write a wheel with files added to its cubins, in place of any that it has."""
    with temporary(target.parent, 0o644) as made:
        with (
            zipfile.ZipFile(wheel) as old,
            zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
        ):
            (record,) = _records(old)
            kept = [each for each in old.infolist() if not each.filename.startswith(CUBINS)]
            for entry in kept:
                if entry.filename != record:
                    new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED)
            lines = [
                line
                for line in old.read(record).decode().splitlines()
                if not line.startswith(CUBINS)
            ]
            for file in files:
                data, name = file.read_bytes(), CUBINS + file.name
                new.writestr(zipfile.ZipInfo(name, DATE), data, zipfile.ZIP_DEFLATED)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
                lines.insert(-1, f"{name},sha256={digest.decode()},{len(data)}")
            new.writestr(zipfile.ZipInfo(record, DATE), "\n".join(lines) + "\n")
        made.replace(target)


def _extracted(wheel: Path, folder: Path) -> Path:
    """Write the kernels of a wheel into a folder; return their root."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(KERNELS)]
        if not names:
            raise OSError(f"it has no {KERNELS}")
        if len(records := _records(archive)) != 1:
            raise OSError(f"it has {len(records)} files .dist-info/RECORD and must have one")
        archive.extractall(folder, [name for name in names if not name.startswith(CUBINS)])
    return folder / KERNELS


def _records(archive: zipfile.ZipFile) -> list[str]:
    return [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]


def _built(folder: Path) -> Path | None:
    """Build the wheel of the sources in the current folder; None if pip fails."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), "."]
    if subprocess.run(command, check=False).returncode != 0:
        print("pip cannot build a wheel of the current folder", file=sys.stderr)
        return None
    return next(folder.glob("raytracer-*.whl"), None)


if __name__ == "__main__":
    sys.exit(main())
