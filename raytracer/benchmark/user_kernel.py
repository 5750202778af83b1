"""Kernels of users: `raytracer bench matmul --with kernel.cu`."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

from raytracer.backends.kernel_sources import LADDERS, Variant, read_variant
from raytracer.benchmark.op import Op
from raytracer.config.errors import UserError
from raytracer.files.access import open_file, translate_errors
from raytracer.system.resources import kernels_folder

NUMBER = 99
SOURCE_BYTES = 1 << 24
HEADERS = (".h", ".cuh", ".hpp")


def adopt(op: Op, path: Path, folder: Path) -> Variant:
    """Copy a kernel, and the headers that it may include, into an empty folder; return the variant
    there.

    path: the .cu file, with the header of a variant; it may include headers beside it, and those of
    kernels/ as "../../core/compat.h" or "core/compat.h". Raises UserError for a file that cannot
    be read or lacks the entry, VariantError for an invalid header.
    """
    with open_file(path) as file:
        data = file.read(SOURCE_BYTES)
        with translate_errors(file.source, "a CUDA source"):
            text = data.decode("utf-8")
    if not re.search(rf"__global__[^;{{]*\b{op.name}\s*\(", text) or 'extern "C"' not in text:
        raise UserError(
            f'{path}: lacks the entry of {op.name}: extern "C" __global__ void {op.name}(…); '
            "kernels/README.md shows its arguments"
        )
    shutil.copytree(kernels_folder(), folder, ignore=_no_headers, dirs_exist_ok=True)
    target_folder = folder / LADDERS / op.name
    target_folder.mkdir(parents=True, exist_ok=True)
    for beside in path.resolve().parent.iterdir():
        if beside.suffix in HEADERS and beside.is_file():
            shutil.copyfile(beside, target_folder / beside.name)
    words = re.findall(r"[a-z0-9]+", re.sub(r"^\d+_", "", path.stem.lower())) or ["user"]
    target = target_folder / f"{NUMBER}_{'_'.join(words)}.cu"
    target.write_text(text, encoding="utf-8")
    return replace(read_variant(target), folder=folder)


def _no_headers(folder: str, names: list[str]) -> list[str]:
    return [n for n in names if not n.endswith(HEADERS) and not Path(folder, n).is_dir()]
