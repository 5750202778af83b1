"""`raytracer bench preview`: what is measured, and what is said of it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from raytracer.benchmark import preview_benchmark
from support.display import missing

pytestmark = pytest.mark.slow  # a process that draws many frames

MEASURE = """
import faulthandler, json
faulthandler.dump_traceback_later(100, exit=True)
from raytracer.benchmark import preview_benchmark
cases = ((300, (64, 48)), (20, (31, 17)))
print(json.dumps(preview_benchmark.results("cpu", cases=cases, frames=6)))
"""


@pytest.fixture(scope="module")
def measured(egl_reason: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A device and two results, of a process of its own: OpenGL stays as it was opened."""
    missing(egl_reason)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], text=True, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    device, results = json.loads(done.stdout)
    return device, results


def test_the_results_are_those_of_the_cases(measured: tuple[Any, list[dict[str, Any]]]) -> None:
    device, results = measured
    assert device["name"]
    assert [each["axes"] for each in results] == [
        {"spheres": 300, "width": 64, "height": 48},
        {"spheres": 20, "width": 31, "height": 17},
    ]
    assert all(each["op"] == "preview" and each["backend"] == "cpu" for each in results)
    assert all("6 events" in each["note"] for each in results)


def test_every_frame_is_timed(measured: tuple[Any, list[dict[str, Any]]]) -> None:
    for result in measured[1]:
        frames, rest, alone = result["rows"]
        assert [row["kind"] for row in result["rows"]] == ["variant", "stage", "peer"]
        assert frames["label"] == "texture upload"
        assert len(frames["samples"]) == len(alone["samples"]) == 6
        assert len(rest["samples"]) == preview_benchmark.IDLE_RUNS
        assert min(frames["samples"] + rest["samples"] + alone["samples"]) > 0.0
        assert result["traced"] <= [result["axes"]["width"], result["axes"]["height"]]
