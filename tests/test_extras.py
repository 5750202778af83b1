"""What an install without extras lacks: the modules that are for them alone."""

import json
import subprocess
import sys

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
    command = [sys.executable, "-c", IMPORTS, json.dumps(EXTRAS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) == {
        "raytracer.backends.cuda.cuda_bindings",
        "raytracer.browser.server",
        "raytracer.browser.widget",
    }
