"""Makes preview_data.png: a window on a virtual display, by keys and clicks (Xvfb, xdotool)."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

OUT = Path(__file__).with_suffix(".png")
FRAMES, SPIN = 60, 0.15  # radians a unit of time
KEYS = """
raytracer preview cluster.xyz --backend cpu --size 1120x700 --samples 32 --frame 38 \
  --background white --radius 1.12 --screenshot "$OUT" &
sleep 8; xdotool search --sync --onlyvisible --name cluster windowfocus
for key in m w Tab; do xdotool key $key; sleep 2; done
xdotool mousemove 560 350 click 1; sleep 2
xdotool keydown shift mousemove 660 360 click 1 keyup shift; sleep 8
xdotool key q; wait
"""

n = np.arange(-6, 7)
grid = np.stack(np.meshgrid(n, n, n, indexing="ij"), -1).reshape(-1, 3)
atoms = grid[grid.sum(axis=1) % 2 == 0] * 1.8075  # face-centred copper, in angstrom
atoms = atoms[np.linalg.norm(atoms, axis=1) < 10.7]
lines = []
for frame in range(FRAMES):
    c, s = np.cos(0.03 * frame), np.sin(0.03 * frame)
    places = atoms @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    velocities = SPIN * np.stack([-places[:, 1], places[:, 0], 0.0 * places[:, 0]], axis=1)
    lines += [str(len(atoms)), "Properties=species:S:1:pos:R:3:velo:R:3"]
    lines += ["Cu " + " ".join(f"{v:.4f}" for v in row) for row in np.hstack([places, velocities])]

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "cluster.xyz").write_text("\n".join(lines) + "\n")
    display = ["xvfb-run", "-a", "-s", "-screen 0 1400x900x24"]
    command = [*display, "env", f"OUT={OUT}", "LIBGL_ALWAYS_SOFTWARE=1", "bash", "-c", KEYS]
    subprocess.run(command, cwd=folder, check=True)
