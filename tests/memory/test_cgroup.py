"""In a control group of 1 GiB, commands are refused in a sentence or succeed: none is killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

LIMIT = 1 << 30
# Folders of version 1 and 2, and the file that takes the limit.
KINDS = (
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
    ("/sys/fs/cgroup", "memory.max"),
)
SIZE = ["--samples", "1", "--backend", "cpu"]
VARIABLES = ["--aov", "depth,normal,albedo,id,position,samples"]
LARGE = ["--width", "8192", "--height", "8192"]

pytestmark = pytest.mark.kills


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group of 1 GiB."""
    for top, limit in KINDS:
        folder = Path(top) / f"raytracer-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / limit).exists():
                (folder / limit).write_text(str(LIMIT))
                yield folder
                return
        finally:
            folder.rmdir()
    pytest.skip("no rights to make a control group with a limit of memory")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with 1,000 spheres."""
    np.savez(
        tmp_path / "a.npz",
        centers=np.random.default_rng(1).random((1000, 3)),
        radius=np.array(0.02),
    )
    return tmp_path


def run(group: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in the group; fails if it was killed."""
    enter = f'echo $$ > {group}/cgroup.procs && exec "$@"'
    command = ["bash", "-c", enter, "enter", sys.executable, "-m", "raytracer", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode in (0, 2), (done.returncode, done.stderr)
    return done


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence of a refusal for lack of memory."""
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    assert re.search(r"need.* about .* of memory", done.stderr), done.stderr
    return done.stderr


def empty_film(path: Path, side: int) -> None:
    """A compressed film of black pixels, a thousandth of the size that it has in memory."""
    small = path.with_name("small.npz")
    options = ["--width", "8", "--height", "8", "--film", str(small), "-o", str(small) + ".png"]
    scene = str(path.with_name("a.npz"))
    command = [sys.executable, "-m", "raytracer", "render", scene, "-q", *SIZE, *options]
    subprocess.run(command, check=True)
    with np.load(small) as film:
        about = str(film["film"]).replace('"size": [8, 8]', f'"size": [{side}, {side}]')
    np.savez_compressed(path, film=np.array(about))
    add_zeros(path, "sums", (side, side, 4))


def add_zeros(path: Path, name: str, shape: tuple[int, ...]) -> None:
    """Add a compressed float32 array of zeros to an archive."""
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(f"{name}.npy", "w", force_zip64=True) as member,
    ):
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(member, header)
        for _ in range(shape[0]):
            member.write(bytes(4 * int(np.prod(shape[1:]))))


@pytest.mark.parametrize(
    "options", [VARIABLES, ["--bits", "16"], [*VARIABLES, "--resume", "begun.npz"]]
)
def test_a_picture_is_refused_and_the_proposed_one_rendered(
    options: list[str], group: Path, work: Path
) -> None:
    base = ["render", "a.npz", "-o", "a.png", "-q", *SIZE]
    if "--aov" in options:
        base += ["--film", "f.npz"]
    if "--resume" in options:  # a film that fits, of a picture whose variables do not
        size = ["--width", "6144", "--height", "4608"]
        begun = ["render", "a.npz", "-o", "b.png", "-q", *SIZE, "--film", "begun.npz", *size]
        assert run(group, work, *begun).returncode == 0
        refused(run(group, work, *base, *options, *size))
        return
    said = refused(run(group, work, *base, *options, *LARGE))
    found = re.search(r"a picture of (\d+)x(\d+) fits", said)
    assert found, said
    assert not (work / "a.png").exists()
    done = run(group, work, *base, *options, "--width", found[1], "--height", found[2])
    assert done.returncode == 0, done.stderr


def test_films(group: Path, work: Path) -> None:
    empty_film(work / "film.npz", 12288)
    assert (work / "film.npz").stat().st_size < 16 << 20
    refused(run(group, work, "tone", "film.npz", "-o", "a.png"))
    size = ["--width", "12288", "--height", "12288"]
    done = run(group, work, "render", "a.npz", "-o", "a.png", "--resume", "film.npz", *SIZE, *size)
    refused(done)


def test_a_table_of_short_rows(group: Path, work: Path) -> None:
    with (work / "a.csv").open("wb") as file:
        file.write(b"x,y,z\n")
        for _ in range(50):
            file.write(b"1,2,3\n" * 1_000_000)  # in memory 1.2 GB
    refused(run(group, work, "render", "a.csv", "-o", "a.png", *SIZE))


def test_describe_reads_what_it_needs(group: Path, work: Path) -> None:
    add_zeros(work / "a.npz", "other", (512, 1024, 1024))
    done = run(group, work, "scene", "describe", "a.npz", "5")
    assert done.returncode == 0, done.stderr
