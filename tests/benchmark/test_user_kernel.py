"""The worked example of kernels/README.md: it is read, compiled, and on a GPU ranked."""

import re
from pathlib import Path

import pytest

import raytracer
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.kernel_sources import VariantError
from raytracer.benchmark import operations as ops
from raytracer.benchmark.user_kernel import adopt
from raytracer.config.errors import UserError
from raytracer.system.resources import kernels_folder


def example(folder: Path) -> Path:
    """pairs.cu as the README has it."""
    text = (kernels_folder() / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- file: pairs\.cu -->\n```cuda\n(.*?)```", text, re.DOTALL)
    assert found is not None
    path = folder / "pairs.cu"
    path.write_text(found[1], encoding="utf-8")
    return path


@pytest.mark.usefixtures("cuda_compiler")
def test_example_is_a_variant_that_compiles(tmp_path: Path) -> None:
    root, path = tmp_path / "kernels", example(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + '#include "mine.h"\n', encoding="utf-8")
    (tmp_path / "mine.h").write_text("#pragma once\n")
    variant = adopt(ops.OPERATIONS["vecadd"], path, root)
    assert variant.title == "pairs"
    assert variant.configure_launch({"n": 1025}, 132).grid == (3, 1, 1)
    cubin = compiler.compile_source(Path(str(variant.path)), "sm_80", root)
    assert "vecadd" in cubin.log


@pytest.mark.parametrize(
    ("old", "new", "error", "sentence"),
    [
        ("vecadd(", "vectoradd(", UserError, r"pairs.cu: lacks the entry of vecadd"),
        ("// block: 256\n", "", VariantError, "lacks a value for 'block'"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(
    tmp_path: Path, old: str, new: str, error: type[Exception], sentence: str
) -> None:
    path = example(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(error, match=sentence) as caught:
        adopt(ops.OPERATIONS["vecadd"], path, tmp_path / "kernels")
    assert "\n" not in str(caught.value)


@pytest.mark.gpu
def test_example_is_ranked_and_its_mistake_is_shown(cuda: str, tmp_path: Path) -> None:
    path = example(tmp_path)
    broken = tmp_path / "broken.cu"
    text = path.read_text(encoding="utf-8")
    broken.write_text(text.replace("c[i] = a[i] + b[i];", ";"), encoding="utf-8")
    states = {}
    for each in (path, broken):
        record = raytracer.bench(
            "vecadd", variant="02", axes={"n": 1 << 20}, min_time=0.02, with_file=each, backend=cuda
        )
        rows = record["results"][0]["rows"]
        (mine,) = [row for row in rows if row["kind"] == "mine"]
        states[each.name] = mine
    assert states["pairs.cu"]["time"]["median"] > 0
    assert states["broken.cu"]["status"] == "wrong"
    assert "time" not in states["broken.cu"]
