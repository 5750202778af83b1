"""OptiX's built-in spheres on an NVIDIA GPU."""

from reference.peers.programs import OPTIX_DEVICE, OPTIX_HOST, program
from reference.peers.scenes import PeerScene
from reference.peers.turns import Program

FRAMES, TREES = ("trace", "traverse"), ("default", "fast-trace", "fast-build")
MODES = {"cuda": {"primary": FRAMES, "shadow": FRAMES, "ao": FRAMES, "path": FRAMES,
         "build": TREES, "refit": TREES}}  # fmt: skip


def open_peer(scene: PeerScene, threads: int, backend: str) -> Program:
    host, device = str(program(OPTIX_HOST)), str(program(OPTIX_DEVICE))
    return Program([host], scene, threads, {"OPTIX_IR": device})
