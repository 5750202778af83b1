"""The package as a user installs it: from a wheel and editable, each in a clean environment."""

import sys
import zipfile
from pathlib import Path

import pytest

from raytracer import compile_all
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.kernel_selection import IMAGES, OF_IMAGES, PRODUCTION
from raytracer.backends.kernel_sources import read_production_kernels
from support.mill import mill_file
from support.packages import OWN, ROOT, STABLE, Installed, run
from support.pages import files_of_package

pytestmark = pytest.mark.packaging

SHIPPED = {  # folder of the repository -> folder in the package
    "kernels": "raytracer/kernels",
    "scenes": "raytracer/scenes",
}
ISAS = ["avx512", "avx2", "portable"]  # the best one first
# Scene data ships with every install, so it stays small; larger scenes are generated.
MAX_WHEEL_BYTES = 20e6
SCENE = """
[render]
width = 32
height = 24
samples = 1
[[spheres]]
centers = [[0, 0, 0]]
radius = 1.0
"""


def sources(folder: str) -> set[str]:
    """Every file below a folder of the repository."""
    paths = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT / folder).as_posix() for path in paths}


@pytest.mark.parametrize(("folder", "place"), SHIPPED.items())
def test_wheel_holds_every_source_and_scene(wheel: Path, folder: str, place: str) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"{place}/{name}" for name in sources(folder)} <= names
    assert sources(folder)


def test_wheel_holds_types_licence_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "raytracer/py.typed" in names
    notices = ["LICENSE", *(f"licenses/{name}" for name in sources("licenses")),
               "raytracer/drawing/fonts/OFL.txt"]  # fmt: skip
    kept = [name.partition(".dist-info/licenses/")[2] for name in names]
    assert {*notices} == {name for name in kept if name and not name.endswith("/")}
    assert [name for name in names if name.startswith("raytracer/_core.") and ".so" in name]
    assert {name.split("/")[0].split("-")[0] for name in names} == {"raytracer"}
    assert wheel.stat().st_size < MAX_WHEEL_BYTES


@pytest.mark.skipif(sys.platform != "linux", reason="tags of other systems are those of the build")
def test_wheel_is_for_other_machines_too(wheel: Path) -> None:
    """auditwheel gives the tag by what the module needs, and would copy libraries beside it."""
    assert "-manylinux_2_" in wheel.name
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if ".libs/" in name]


def test_wheel_of_the_stable_abi_is_one(wheel: Path) -> None:
    """From Python 3.12 on, one wheel serves all, and its module calls nothing else."""
    tags = wheel.name.split("-")[2:4]
    if tags != ["cp311", "cp311"]:
        assert tags == ["cp312", "abi3"]
        run(sys.executable, "-m", "abi3audit", "--strict", wheel, cwd=wheel.parent)


@pytest.mark.parametrize("wheel", [OWN], indirect=True)
def test_wheel_gets_the_kernels_that_pictures_need(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A device of a later architecture finds each of them without a compiler."""
    if not compiler.describe_compiler():
        pytest.skip("a compiler for CUDA is missing")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    root = tmp_path / "raytracer/kernels"
    words = ["--production", "--arch", "sm_80", "--complete", "sm_80", "-o", str(root / "cubins")]
    assert compile_all.main([*words, "--kernels", str(root)]) == 0
    request.getfixturevalue("no_compiler")
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path / "empty"))
    kernels = read_production_kernels(root)
    assert {kernel.name for kernel in kernels} > set(PRODUCTION)
    assert all(compiler.find_ready_made(each.translation_unit, "sm_86", root) for each in kernels)
    of_images = [each.translation_unit for each in kernels if each.name in OF_IMAGES]
    assert all(compiler.find_ready_made(each, "sm_86", root, IMAGES) for each in of_images)
    assert len(list((root / "cubins").iterdir())) == len(kernels) + len(OF_IMAGES)


@pytest.mark.parametrize("installed", [OWN, STABLE], indirect=True)
def test_wheel_has_every_instruction_set(installed: Installed) -> None:
    code = "from raytracer import _core; print(_core.processor_isa(), *_core.isas())"
    best, *found = installed.python(code).split()
    assert found == ISAS[ISAS.index(best) :]


def test_renders_from_another_folder(installed: Installed) -> None:
    from PIL import Image

    (installed.elsewhere / "tiny.toml").write_text(SCENE, encoding="utf-8")
    installed.raytracer("render", "tiny.toml", "--backend", "cpu", "-o", "tiny.png")
    with Image.open(installed.elsewhere / "tiny.png") as picture:
        assert picture.size == (32, 24)
        shades = picture.convert("L").getcolors()
    assert shades is not None
    assert len(shades) > 1  # a sphere before a background, not one flat colour


def test_a_package_adds_a_format(installed: Installed, tmp_path: Path) -> None:
    """That of the guide, installed by pip; the entry point is found without further ado."""
    for name, text in files_of_package().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    run(installed.bin / "python", "-m", "pip", "install", "-q", "--no-deps", tmp_path, cwd=tmp_path)
    (installed.elsewhere / "a.grains").write_bytes(mill_file(0.0, 1.0))
    said = installed.raytracer("info", "a.grains")
    assert "grains (of grains-reader 0.1)" in said
    words = ("render", "a.grains", "--frame", "1", "--size", "16x9", "--samples", "1")
    installed.raytracer(*words, "--backend", "cpu", "-o", "grains.png")
    assert (installed.elsewhere / "grains.png").stat().st_size > 0
    remove = ("-m", "pip", "uninstall", "-q", "-y", "grains-reader")
    run(installed.bin / "python", *remove, cwd=tmp_path)
    assert "grains" not in installed.raytracer("info", "--formats")


def test_dependencies_are_consistent(installed: Installed) -> None:
    assert "No broken requirements" in run(
        installed.bin / "python", "-m", "pip", "check", cwd=installed.elsewhere
    )
