"""The corpus: each kind of file is loaded and compared with what another package wrote.

Kinds whose writer is not installed are skipped. For all of them:
`pip install -e '.[corpus]' && pytest tests/particles/corpus`.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest

from particles.corpus import modules
from particles.corpus.kinds import KINDS, Kind
from particles.corpus.table import table
from raytracer.config.warning import RaytracerWarning
from raytracer.model.elements import find_element
from raytracer.particles.read import count_frames, open_source, read

assert modules  # which list the kinds

LEAST = 300
"""Kinds of files, at least."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_file(tmp_path: Path, kind: Kind) -> None:
    for package in (kind.writer, *kind.needs):
        if package != "by hand":
            pytest.importorskip(package)
    path = tmp_path / kind.file
    written = kind.write(path)
    named = Path(f"{path}:{written.inner}") if written.inner else path
    with warnings.catch_warnings():
        if written.frames == 1:
            warnings.simplefilter("error", RaytracerWarning)
        data = read(named)
    assert written.warning in " ".join(note for _, note in data.notes)
    assert count_frames(named) == written.frames
    if written.step:
        np.testing.assert_allclose(data.centers, written.positions, rtol=0, atol=written.step)
    else:
        np.testing.assert_array_equal(data.centers, written.positions)
    if written.symbols:
        assert data.labels is not None
        found = [find_element(data.labels.names[place]) for place in data.labels.ids]
        assert found == [find_element(symbol) for symbol in written.symbols]
    if written.radii is not None:
        np.testing.assert_array_equal(data.radius, written.radii)
    with open_source(named) as source:
        if written.edges is not None:
            assert source.box is not None
            np.testing.assert_allclose(
                source.box.edges, written.edges, atol=1e-6 + 10 * written.step
            )
        columns = source.load([name for name, _ in written.columns])
    for name, values in written.columns:
        np.testing.assert_array_equal(columns[name], values)


def test_there_are_enough_kinds() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= LEAST


def test_the_documentation_lists_all_kinds() -> None:
    """`python tests/particles/corpus/table.py` prints the table."""
    assert table() in (Path(__file__).parents[3] / "docs/reference/corpus.md").read_text()
