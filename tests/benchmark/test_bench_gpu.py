"""The bench on a real GPU: from the names of operations to a record. No timing is asserted."""

import pytest

import raytracer
from raytracer.variants.discovery import discover

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("mode", ["cold", "hot"])
@pytest.mark.parametrize("n", [1000, 1 << 22])
def test_vecadd_gives_a_row_for_each_variant(cuda: str, mode: str, n: int) -> None:
    record = raytracer.bench("vecadd", backend=cuda, axes={"n": n}, mode=mode, min_time=0.05)
    (result,) = record["results"]
    rows = {row["label"]: row for row in result["rows"]}
    for variant in discover("vecadd"):
        row = rows[variant.label]
        assert row["status"] == "ok", row
        assert 1e-7 < row["time"]["median"] < 1
        assert row["resources"]["registers"] > 0
    assert record["device"]["ceilings"]["copy_gbps"] > 1
    assert record["device"]["ceilings"]["fma_tflops"] > 0.1
