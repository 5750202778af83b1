"""Embree 4 on the CPU."""

from importlib.util import find_spec
from os import environ
from pathlib import Path

from raytracer.config.errors import UserError
from reference.peers.programs import EMBREE, program
from reference.peers.scenes import PeerScene
from reference.peers.turns import Program

PACKETS = ("1", "4", "8", "16", "16-high")
MODES = {"cpu": {"primary": PACKETS, "shadow": PACKETS, "ao": PACKETS, "path": PACKETS,
         "build": ("low", "medium", "high")}}  # fmt: skip


def library() -> str:
    """Return the path of libembree4: EMBREE_LIBRARY, or that of the package `embreex`."""
    if given := environ.get("EMBREE_LIBRARY"):
        return given
    found = find_spec("embreex")
    if found is not None and found.origin:
        for path in Path(found.origin).parents[1].glob("embreex.libs/libembree4*"):
            return str(path)
    raise UserError(
        "there is no libembree4: pip install embreex, or set EMBREE_LIBRARY to its path"
    )


def open_peer(scene: PeerScene, threads: int, backend: str) -> Program:
    path = library()
    return Program([str(program(EMBREE))], scene, threads, {"EMBREE_LIBRARY": path})
