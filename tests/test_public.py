"""The public names, and which module may import which."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import raytracer
from support.commands import python
from support.modules import PACKAGE, graph, imports, sources
from support.packages import ROOT

# From the bottom up: a module imports from its own layer and from those below.
LAYERS = [
    {"_version", "_core", "_native", "config"},
    {"system", "files", "keywords"},
    {"model"},
    {"film", "drawing"},
    {"packing"},
    {"particles"},
    {"appearance"},
    {"scene_files"},
    {"backends"},
    {"annotations", "trajectory"},
    {"rendering"},
    {"animation"},
    {"viewer"},
    {"browser"},
    {"exporting", "in_situ"},
    {"benchmark"},
    {"ops", "compile_all"},
    {"commands"},
    {"__main__"},
]
# What is above, for type checkers or on first use: a scene is described, coloured and packed by its
# methods, and a picture holds the camera and the description of it.
UPWARD = {
    "film/aovs.py": {"packing"},
    "film/image.py": {"appearance"},
    "model/arrays.py": {"packing"},
    "model/extent.py": {"packing"},
    "model/mesh.py": {"scene_files"},
    "model/motion.py": {"appearance"},
    "model/openexr_image.py": {"film"},
    "model/render_space.py": {"packing"},
    "model/scene.py": {"appearance", "packing", "particles", "scene_files"},
    "model/solids.py": {"appearance"},
    "model/sphere_set.py": {"appearance"},
}
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def top(path: Path) -> str:
    """The top-level module or folder that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def own(path: Path) -> set[str]:
    """Top-level modules of the package that a file imports."""
    names = (name.split(".")[1] for name in imports(path) if name.startswith("raytracer."))
    return {"_version" if name == "__version__" else name for name in names}


def test_every_public_name_is_importable() -> None:
    for name in raytracer.__all__:
        assert getattr(raytracer, name) is not None
    assert set(raytracer.__all__) <= set(dir(raytracer))
    assert raytracer.__all__ == sorted(raytracer.__all__)
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [n for n in stub.body if isinstance(n, ast.ImportFrom) and n.module != "typing"]
    assert sorted(alias.name for node in imports for alias in node.names) == raytracer.__all__
    with pytest.raises(AttributeError, match="no_such_name"):
        raytracer.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_sources_without_the_extension_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a checkout after `pip install .`: Python finds the sources there first."""
    ignored = shutil.ignore_patterns("_core*", "__pycache__", "kernels", "scenes")
    shutil.copytree(PACKAGE, tmp_path / "raytracer", ignore=ignored)
    (tmp_path / "a.toml").write_text("")

    monkeypatch.chdir(tmp_path)
    # -S keeps out the finder of an editable install; its libraries are on the path again.
    path = [str(tmp_path), *(p for p in sys.path if "site-packages" in p)]
    env = {"PYTHONPATH": os.pathsep.join(path)}
    for scene in ("a.toml", "three_balls"):
        words = ("-S", "-m", "raytracer", "render", scene, "--backend", "cpu")
        done = python(*words, code=2, env=env)
        assert done.stderr.startswith(f"raytracer: {tmp_path / 'raytracer'} has the sources")
        assert done.stderr.count("\n") == 1
    code = "import raytracer\ntry: raytracer.devices()\nexcept ImportError as e: print(e)"
    done = python("-S", "-c", code, env=env)
    assert "install them with `pip install -e .`" in done.stdout


def test_importing_the_package_and_asking_for_help_is_cheap() -> None:
    """Only the help of a command with settings needs their definitions, which are dataclasses."""
    code = (
        "import sys; from raytracer.commands.cli import main; main(['--help']);"
        "early = {'dataclasses', 'raytracer.commands.render'} & {*sys.modules};"
        "main(['render', '--help']);"
        "print(*{'numpy', 'PIL', 'pydantic', 'rich', 'cuda', 'pycuda', 'pyglet', 'json',"
        " 'raytracer._core', 'raytracer.files.output', 'raytracer.commands.bench',"
        " 'raytracer.system.progress'}"
        " & {*sys.modules}, *early)"
    )
    assert python("-c", code).stdout.splitlines()[-1] == ""


def test_a_small_render_imports_what_it_needs(tmp_path: Path) -> None:
    code = (
        "import sys; from raytracer.commands.cli import main;"
        "main(['render', 'three_balls', '--width', '8', '--height', '8', '--samples', '1',"
        " '--backend', 'cpu', '--quiet', '--output', sys.argv[1]]);"
        "print(*{'zipfile', 'csv', 'difflib', 'PIL', 'pydantic', 'rich',"
        " 'raytracer.rendering.view_settings', 'raytracer.appearance.glyphs.settings',"
        " 'raytracer.appearance.coloring.style', 'raytracer.model.clip'} & {*sys.modules},"
        " *(name for name in sys.modules if 'annotation' in name))"
    )
    picture = tmp_path / "a.png"
    assert python("-c", code, str(picture)).stdout.strip() == ""
    assert picture.stat().st_size > 0


def test_imports_go_one_way() -> None:
    upward: dict[str, set[str]] = {}
    for path in sources():
        unit = top(path)
        if unit == "__init__":
            continue  # names of every layer, each imported on first use
        for name in {unit, *own(path)}:
            assert name in RANK, f"give {name} a place in LAYERS"
            if RANK[name] > RANK[unit]:
                upward.setdefault(path.relative_to(PACKAGE).as_posix(), set()).add(name)
    assert upward == UPWARD


def test_a_device_knows_no_scene() -> None:
    """Only arrays and views of it (`raytracer.packing`)."""
    known = set[str]().union(*map(own, (path for path in sources() if top(path) == "backends")))
    assert "packing" in known
    assert not known & {"model", "particles", "appearance", "scene_files"}


def test_no_module_imports_another_in_a_circle() -> None:
    """Imports inside functions and by name included; those of the type checker alone left out."""
    TopologicalSorter(graph()).prepare()  # raises CycleError with the circle


@pytest.mark.parametrize(
    ("library", "folders"), [("pycuda", set()), ("cuda", {"backends/cuda"}), ("pyglet", {"viewer"})]
)
def test_libraries_stay_in_their_folders(library: str, folders: set[str]) -> None:
    users = {
        path.relative_to(PACKAGE).parent.as_posix()
        for path in sources()
        if any(name.split(".")[0] == library for name in imports(path))
    }
    assert users <= folders


def test_the_base_install_has_four_packages() -> None:
    """Others are extras, imported where they are needed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = {re.split(r"[<>=]", each)[0] for each in project["dependencies"]}
    assert required == {"numpy", "pillow", "pyglet", "click"}
    gone = {"pydantic", "rich", "typing_extensions"}
    found = {path: {n.split(".")[0] for n in imports(path)} & gone for path in sources()}
    assert {path: names for path, names in found.items() if names} == {}


def test_one_extra_installs_all_that_go_together() -> None:
    """.ci/run installs it: a new extra joins the tests that run there, or is an exception here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    listed = [re.fullmatch(r"raytracer\[(.*)\]", each) for each in extras["all"]]
    names = [name for match in listed if match for name in match[1].split(",")]
    assert len(names) == len({*names})
    assert {*names} == {*extras} - {"all", "cuda12", "pycuda", "wheels"}
    assert 'pip install --quiet "raytracer[all]"' in (ROOT / ".ci/run").read_text()


@pytest.mark.parametrize("where", ["test", "module"])
def test_a_missing_package_fails_where_all_are_installed(where: str, tmp_path: Path) -> None:
    skip = 'pytest.importorskip("no_such_package")'
    text = f"def test() -> None:\n    {skip}\n" if where == "test" else f"{skip}\n"
    (tmp_path / "test_a.py").write_text(f"import pytest\n{text}")
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)]
    for required, code in (("", {0, 5}), ("1", {1, 2})):
        environment = os.environ | {
            "RAYTRACER_REQUIRE_PACKAGES": required, "PYTHONPATH": str(ROOT / "tests"),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode in code, done.stdout
    assert "skipped where all extras are installed: could not import 'no_such_pack" in done.stdout


IMPORTS = """
import importlib, json, sys
from pathlib import Path
import raytracer
sys.modules.update(dict.fromkeys(json.loads(sys.argv[1])))
root = Path(raytracer.__file__).parent
missing = []
for path in sorted(root.rglob("*.py")):
    name = ".".join(("raytracer", *path.relative_to(root).with_suffix("").parts))
    if path.name in ("__main__.py", "__init__.py"):
        continue
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        missing.append(name)
    except Exception:  # modules of windows, without a display
        pass
print(json.dumps(missing))
"""

EXTRAS = (
    "MDAnalysis", "OpenEXR", "aiohttp", "anywidget", "ase", "astropy", "av", "chemfiles",
    "cmcrameri", "colorcet", "cuda", "gemmi", "gsd", "h5py", "imagecodecs", "laspy",
    "matplotlib", "plyfile", "pxr", "pyarrow", "pycuda", "pye57", "pyoidn", "pypcd4",
    "python_calamine", "pytng", "rdkit", "scipy", "skimage", "trimesh", "vtkmodules", "yaml",
    "zstandard",
)  # fmt: skip


def test_modules_need_an_extra_only_where_they_are_for_it() -> None:
    assert set(json.loads(python("-c", IMPORTS, json.dumps(EXTRAS)).stdout)) == {
        "raytracer.backends.cuda.cuda_bindings",
        "raytracer.browser.server",
        "raytracer.browser.widget",
    }
