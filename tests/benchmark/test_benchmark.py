"""Every benchmark follows one protocol: listed, checked, run, profiled by name."""

from typing import Any

import pytest

import raytracer
from raytracer.backends.kernel_sources import discover_variants
from raytracer.benchmark import op, operations, run
from raytracer.benchmark.benchmark import Benchmark, BenchOptions
from raytracer.benchmark.report import figures
from raytracer.commands.cli import main
from raytracer.config.errors import UserError

RENDERER = ["render", "tone", "build", "live"]
ON_GPU = [*operations.OPERATIONS, "copy"]
NAMES = [*ON_GPU, *RENDERER]
each = pytest.mark.parametrize("name", NAMES)
# What a moment on the CPU takes, by name.
SMALL: dict[str, dict[str, list[int]]] = {
    "render": {"width": [32], "height": [24]},
    "tone": {"width": [64], "height": [48]},
}


def test_operations_then_the_renderer() -> None:
    assert list(run.BENCHMARKS) == NAMES
    assert [found.name for found in run.selected(())] == ON_GPU
    assert [found.name for found in run.selected((), "cpu")] == ["tone", "build"]
    twice = run.selected(("tone", "vecadd", "tone"))
    assert [found.name for found in twice] == ["tone", "vecadd"]
    with pytest.raises(UserError, match="no operation 'rendr' to bench; did you mean 'render'"):
        run.find("rendr")
    with pytest.raises(UserError, match="'sgemm' to bench; did you mean 'matmul'"):
        run.find("sgemm")


@each
def test_it_is_listed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found: Benchmark = run.find(name)
    assert found.name == name
    assert next(found.listing(ideas=False)).startswith(f"{name}: ")
    assert main(["bench", name, "--list"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines() == list(found.listing(ideas=True))
    for variant in discover_variants(name) if name in operations.OPERATIONS else ():
        assert variant.title in said
        assert variant.idea[:60] in said


@each
@pytest.mark.parametrize("option", [{"axes": {"none": 1}}, {"variant": "99_none"}])
def test_what_makes_no_sense_is_refused_before_anything_runs(name: str, option: Any) -> None:
    with pytest.raises(UserError, match=name):
        raytracer.bench(name, backend="cpu", **option)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["vecadd", "tone", "render"])
def test_it_is_profiled_on_a_gpu(cuda: str, name: str) -> None:
    axes = SMALL.get(name, {"n": [1000]})
    ran = run.find(name).profile(BenchOptions(axes=axes, scenes=("three_balls",)))
    assert len(ran) >= 5
    assert len(set(ran)) == len(ran)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["cold", "hot"])
@pytest.mark.parametrize("n", [1000, 1 << 22])
def test_vecadd_gives_a_row_for_each_variant(cuda: str, mode: str, n: int) -> None:
    record = raytracer.bench("vecadd", backend=cuda, axes={"n": n}, mode=mode, min_time=0.05)
    (result,) = record["results"]
    rows = {row["label"]: row for row in result["rows"]}
    for variant in discover_variants("vecadd"):
        row = rows[variant.label]
        assert row["status"] == "ok", row
        assert 1e-7 < row["time"]["median"] < 1
        assert row["resources"]["registers"] > 0
    assert record["device"]["ceilings"]["copy_gbps"] > 1
    assert record["device"]["ceilings"]["fma_tflops"] > 0.1


@pytest.mark.gpu
@pytest.mark.parametrize("values", ["normal", "constant", "zeros"])
@pytest.mark.parametrize("mode", ["cold", "hot"])
def test_products_stay_below_the_rate_of_tensor_cores(cuda: str, mode: str, values: str) -> None:
    record = raytracer.bench(
        "matmul_bf16", backend=cuda, size=4096, mode=mode, input=values, min_time=0.1,
        dtype="bfloat16_out",
    )  # fmt: skip
    rate = record["device"]["ceilings"].get("mma_tflops")
    if rate is None:
        pytest.skip("the rate of tensor cores is not measured on this GPU")
    if peak := record["device"].get("peak", {}).get("mma_tflops"):
        assert 0.6 * peak < rate < 1.2 * peak
    for result in record["results"]:
        timed = [row for row in result["rows"] if "time" in row]
        shares = {row["label"]: figures(row, result, record["device"]) for row in timed}
        print({label: (each["of_ceiling"], each["of_peak"]) for label, each in shares.items()})
        assert len(shares) > 1
        # No lower bound: other processes may use the GPU, as other tests do.
        assert max(each["of_ceiling"] for each in shares.values()) <= 1.03
        assert not [row for row in result["rows"] if row["status"] == "wrong"]


def test_constant_and_zero_inputs_have_one_value() -> None:
    """0.5, and 110 for grey levels, which no sum or product confuses with zeros."""
    assert (op.draw((3, 4), "float32", "constant", 1) == 0.5).all()
    assert (op.draw((5,), "uint8", "constant", 1) == 110).all()
    assert not op.draw((3, 4), "float32", "zeros", 1).any()
