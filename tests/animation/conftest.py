from pathlib import Path

import pytest

from support.movies import FRAMES


@pytest.fixture
def trajectory(tmp_path: Path) -> Path:
    """Three atoms that move apart; from frame 3 on a fourth one."""
    text = ""
    for k in range(FRAMES):
        atoms = [("O", 0.0, 0.0), ("H", 1.0 + k, 0.3), ("H", -1.0 - k, 0.3)]
        atoms += [("N", 0.0, 2.0)] if k >= 3 else []
        text += f"{len(atoms)}\n{k}\n" + "".join(f"{s} {x} {y} 0\n" for s, x, y in atoms)
    path = tmp_path / "water.xyz"
    path.write_text(text)
    return path
