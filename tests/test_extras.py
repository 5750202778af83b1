"""What an install without extras lacks: the modules that are for them alone."""

from __future__ import annotations

import json
import subprocess
import sys

IMPORTS = """
import importlib, json, pkgutil, sys
import raytracer
extras = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(extras))
missing = []
for module in pkgutil.walk_packages(raytracer.__path__, "raytracer."):
    if not module.name.endswith("__main__") and ".kernels" not in module.name:
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError:
            missing.append(module.name)
        except Exception:  # modules of windows, without a display
            pass
print(json.dumps(missing))
"""

EXTRAS = (
    "MDAnalysis", "OpenEXR", "aiohttp", "anywidget", "ase", "av", "chemfiles", "cmcrameri",
    "colorcet", "cuda", "gemmi", "gsd", "h5py", "imagecodecs", "laspy", "matplotlib", "openpyxl",
    "plyfile", "pxr", "pyarrow", "pycuda", "pyoidn", "rdkit", "scipy", "skimage", "trimesh",
    "vtkmodules", "yaml", "zstandard",
)  # fmt: skip


def test_modules_need_an_extra_only_where_they_are_for_it() -> None:
    command = [sys.executable, "-c", IMPORTS, json.dumps(EXTRAS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) == {
        "raytracer.backends.cuda.cuda_bindings",
        "raytracer.browser.server",
        "raytracer.browser.widget",
    }
