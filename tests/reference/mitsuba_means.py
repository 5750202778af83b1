"""Means of pictures by this package and by Mitsuba 3, compared by z-tests in regions.

    pip install mitsuba        # beside this package; llvm_ad_rgb needs libLLVM
    python tests/reference/mitsuba_means.py --save renders/records/mitsuba/means.json

Each program renders every case of `mitsuba_cases.py` in batches of independent seeds. The mean of a
region of 8x8 pixels has a standard error by the spread of the batches; z is the difference of both
means over the standard error of the difference, to which 0.1% of the light is added, since one
plane ends, one light is far away instead of infinitely far, and both programs resample images.
With 12 batches all cases that should agree do so without it, too. If the programs agree, z^2 is
about 1 on average, and its largest value of some 300 is seldom above 4.
A case passes if the mean z^2 is at most 1.4, the largest |z| at most 5.5, and the whole picture
agrees within 4 standard errors or within 0.1%.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import mitsuba as mi
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
if __name__ == "__main__":
    mi.set_variant("llvm_ad_rgb")

import raytracer
from reference import mitsuba_cases
from reference.mitsuba_facets import Facets

REGION = 8
MOST_MEAN_SQUARE, MOST_Z, MOST_WHOLE = 1.4, 5.5, 4.0
ALLOWED = 1e-3


def regions(picture: np.ndarray) -> np.ndarray:
    """Means of regions, float64 (regions, 3)."""
    h, w = picture.shape[:2]
    parts = picture.astype(np.float64).reshape(h // REGION, REGION, w // REGION, REGION, 3)
    return np.asarray(parts.mean(axis=(1, 3)).reshape(-1, 3))


def compare(ours: np.ndarray, theirs: np.ndarray) -> dict[str, float]:
    """Compare batches of regions, float64 (batches, regions, 3)."""

    def error2(a: np.ndarray) -> Any:
        return a.var(axis=0, ddof=1) / len(a)

    squares = error2(ours) + error2(theirs) + (ALLOWED * theirs.mean(axis=0)) ** 2
    difference = ours.mean(axis=0) - theirs.mean(axis=0)
    lit = squares > 0
    z = difference[lit] / np.sqrt(squares[lit])
    whole = [a.mean(axis=(1, 2)) for a in (ours, theirs)]
    spread = float(np.sqrt(error2(whole[0]) + error2(whole[1])))
    level = float(whole[1].mean())
    # the variance of a z by n batches each is that of Student's t
    freedom = 2 * len(ours) - 2
    return {
        "mean_square_z": round(float((z**2).mean() * (freedom - 2) / freedom), 3),
        "largest_z": round(float(np.abs(z).max()), 2),
        "whole_z": round(float(whole[0].mean() - whole[1].mean()) / spread, 2),
        "whole_percent": round(100 * float(whole[0].mean() / level - 1), 3),
        "error_percent": round(100 * spread / level, 3),
    }


def passes(row: dict[str, Any]) -> bool:
    """Whether the programs agree."""
    return bool(
        row["mean_square_z"] <= MOST_MEAN_SQUARE
        and row["largest_z"] <= MOST_Z
        and (abs(row["whole_z"]) <= MOST_WHOLE or abs(row["whole_percent"]) <= 100 * ALLOWED)
    )


def verdict(row: dict[str, Any]) -> str:
    """What is printed beside a row."""
    return "" if row["agrees"] else row.get("differs", "DIFFERS")


def run(case: mitsuba_cases.Case, samples: int, batches: int, pictures: Path | None) -> Any:
    """Render a case by both programs and compare."""
    samples = int(samples * case.factor)
    with tempfile.TemporaryDirectory() as folder:
        scene = mitsuba_cases.ours(case, Path(folder))
        films = [
            raytracer.render(scene, samples=samples, seed=seed, backend="cpu").film
            for seed in range(batches)
        ]
    mine = [film.sums[..., :3] / film.samples for film in films]
    peer = mitsuba_cases.theirs(case)
    other = [np.array(mi.render(peer, spp=samples, seed=seed)) for seed in range(batches)]
    if pictures:
        both = [np.mean(side, axis=0) for side in (mine, other)]
        shown = np.concatenate([*both, 0.5 + 5 * (both[0] - both[1])], axis=1).astype(np.float32)
        mi.util.write_bitmap(str(pictures / f"{case.name}.png"), shown, write_async=False)
    found = compare(*(np.array([regions(p) for p in side]) for side in (mine, other)))
    return {"case": case.name, "samples": samples * batches, **found}


def main() -> None:
    """Compare all cases, print a row each, and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--samples", type=int, default=32, help="of a batch")
    parser.add_argument("--batches", type=int, default=32)
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--pictures", type=Path, help="folder for both pictures and the difference")
    parser.add_argument("--save", type=Path, help="JSON file for the record")
    args = parser.parse_args()
    mi.register_bsdf("facets", Facets)
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    rows = []
    start = time.perf_counter()
    for case in mitsuba_cases.cases():
        if args.only in case.name:
            row = run(case, args.samples, args.batches, args.pictures)
            row["agrees"] = passes(row)
            if case.differs:
                row["differs"] = case.differs
            rows.append(row)
            print(f"{row['case']:32} mean z^2 {row['mean_square_z']:6.2f}  largest "
                  f"{row['largest_z']:5.2f}  whole {row['whole_percent']:+.3f}% +- "
                  f"{row['error_percent']:.3f}%  {verdict(row)}",
                  flush=True)  # fmt: skip
    print(f"{time.perf_counter() - start:.0f} s")
    if args.save:
        record = {"command": " ".join(["python", *sys.argv]), "mitsuba": mi.__version__,
                  "raytracer": raytracer.__version__, "cases": rows}  # fmt: skip
        args.save.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
