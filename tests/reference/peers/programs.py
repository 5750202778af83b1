"""Compiles the programs of peers; one whose compiler or headers are missing is left out."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from raytracer.config.errors import RaytracerError, UserError

FOLDER = Path(__file__).parent
CXX = os.environ.get("CXX", "c++")
NVCC = os.environ.get("RAYTRACER_NVCC", "nvcc")


@dataclass(frozen=True)
class Source:
    """A program.

    path: below this folder.
    words: the compiler and its options, those for speed included.
    header: what it needs beside the compiler, in the folder that the environment variable
        `variable` names.
    libraries: to link.
    """

    path: str
    words: tuple[str, ...]
    variable: str = ""
    header: str = ""
    libraries: tuple[str, ...] = ()

    @property
    def missing(self) -> str:
        """What is missing for it here; "" if nothing is."""
        if shutil.which(self.words[0]) is None:
            return f"there is no {self.words[0]}"
        if not self.variable:
            return ""
        folder = os.environ.get(self.variable)
        if not folder:
            return f"{self.variable} is not set to a folder with {self.header}"
        if not (Path(folder) / self.header).is_file():
            return f"{self.variable} is {folder}, which has no {self.header}"
        return ""

    def compile(self, target: Path, *more: str) -> Path:
        """Write the program. Raises UserError for what is missing, RaytracerError for an error."""
        readme = FOLDER / Path(self.path).parent / "README.md"
        if missing := self.missing:
            raise UserError(f"{self.path}: {missing}; see {readme}")
        include = [f"-I{os.environ[self.variable]}"] if self.variable else []
        source = str(FOLDER / self.path)
        words = [*self.words, *include, *more, "-o", str(target), source, *self.libraries]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RaytracerError(f"{self.path} does not compile:\n{done.stderr.strip()}")
        return target


CUDA = (NVCC, "-std=c++17", "-O3")
OPTIX = "OPTIX_INCLUDE", "optix.h"
CUBQL = "CUBQL_INCLUDE", "cuBQL/bvh.h"
EMBREE = Source(
    "embree/spheres.cpp",
    (CXX, "-std=c++17", "-O3", "-march=native", "-Wall", "-Wextra", "-pthread"),
    libraries=("-ldl",),
)
OPTIX_DEVICE = Source("optix/device.cu", (*CUDA, "-optix-ir"), *OPTIX)
OPTIX_HOST = Source("optix/spheres.cpp", CUDA, *OPTIX, libraries=("-ldl",))
CUBQL_TREES = Source("cubql/spheres.cu", (*CUDA, "--extended-lambda"), *CUBQL)
SOURCES = (EMBREE, OPTIX_DEVICE, OPTIX_HOST, CUBQL_TREES)


@cache
def folder() -> TemporaryDirectory[str]:
    """The folder of the programs of this process."""
    return TemporaryDirectory(prefix="peers-")


def program(source: Source, *more: str) -> Path:
    """Compile a program for the processors of this machine, once."""
    return _compiled(source, more)


@cache
def _compiled(source: Source, more: tuple[str, ...]) -> Path:
    return source.compile(Path(folder().name) / source.path.replace("/", "-"), *more)


def quick(source: Source) -> tuple[str, ...]:
    """Return the options for a program that is only checked."""
    return ("-O0",) if source.words[0] == CXX else ("-O0", "-arch=compute_80")


def compile_all(sources: tuple[Source, ...] = SOURCES) -> int:
    """Compile what can be compiled here, and say what was left out.

    Returns:
        1 if a program does not compile, or none could be compiled.
    """
    left = [source for source in sources if source.missing]
    rest = [source for source in sources if not source.missing]
    with TemporaryDirectory(prefix="peers-") as name:

        def failure(source: Source) -> str:
            try:
                source.compile(Path(name) / source.path.replace("/", "-"), *quick(source))
            except RaytracerError as error:
                return str(error)
            return ""

        with ThreadPoolExecutor(2) as pool:
            failures = list(pool.map(failure, rest))
    for source, failed in zip(rest, failures, strict=True):
        print(failed or f"{source.path}: compiled")
    for source in left:
        print(f"{source.path}: left out, {source.missing}")
    print(f"{failures.count('')} of {len(sources)} programs of peers compiled")
    return 1 if any(failures) or not rest else 0
