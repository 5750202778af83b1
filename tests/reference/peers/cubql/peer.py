"""cuBQL's trees on an NVIDIA GPU."""

from reference.peers.programs import CUBQL_TREES, program
from reference.peers.scenes import PeerScene
from reference.peers.turns import Program

BUILDERS = ("sah", "median", "radix", "rebin")
MODES = {"cuda": {"primary": BUILDERS, "shadow": BUILDERS, "ao": BUILDERS, "path": BUILDERS,
         "build": BUILDERS, "refit": BUILDERS}}  # fmt: skip


def open_peer(scene: PeerScene, threads: int, backend: str) -> Program:
    return Program([str(program(CUBQL_TREES, "-arch=native"))], scene, threads)
