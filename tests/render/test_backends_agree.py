"""CPU against CUDA on every example scene."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import pytest

import raytracer
from support.pictures import Bench


def example_scenes() -> list[str]:
    """The names of the scenes that ship with the package."""
    folder = files("raytracer") / "scenes"
    return sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml"))


@pytest.mark.gpu
@pytest.mark.parametrize("name", example_scenes())
def test_cuda_agrees_with_the_cpu(cuda: str, pictures: Bench, name: str) -> None:
    with as_file(files("raytracer") / "scenes") as folder:
        scene = raytracer.load(Path(folder) / name)
    cpu, gpu = (
        raytracer.render(scene, backend=backend, width=320, height=180, samples=4)
        for backend in ("cpu", cuda)
    )
    pictures.agree(
        cpu.array, gpu.array, tolerance=2 / 255, share=1e-3, mean=1e-4, srgb=True, what=name
    )
