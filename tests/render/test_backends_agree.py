"""CPU against CUDA on every example scene."""

from pathlib import Path

import pytest

import raytracer
from raytracer.resources import scenes
from support.pictures import Bench

SCENES = sorted(Path(str(scenes())).glob("*.toml"))


@pytest.mark.gpu
@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_cuda_agrees_with_the_cpu(cuda: str, pictures: Bench, path: Path) -> None:
    scene = raytracer.load(path)
    cpu, gpu = (
        raytracer.render(scene, backend=backend, width=320, height=180, samples=4)
        for backend in ("cpu", cuda)
    )
    pictures.agree(
        cpu.array, gpu.array, tolerance=2 / 255, share=1e-3, mean=1e-4, srgb=True, what=path.stem
    )
