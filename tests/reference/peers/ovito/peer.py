"""OVITO's Tachyon renderer on the CPU."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from raytracer.benchmark.statistics import make_timer, repeated
from raytracer.config.errors import UserError
from raytracer.system.resources import choose_thread_count
from reference.peers.scenes import EYE, FOV, PeerScene
from reference.peers.turns import Answer

MODES = {"cpu": {"primary": ("tachyon",), "shadow": ("tachyon",), "ao": ("tachyon",)}}
OCCLUSION_SAMPLES = 8  # as many as the work has


class Spheres:
    """Particles in a pipeline of OVITO, and a viewport that looks at them."""

    def __init__(self, scene: PeerScene) -> None:
        import ovito
        from ovito.data import DataCollection
        from ovito.pipeline import Pipeline, StaticSource
        from ovito.vis import TachyonRenderer, Viewport

        self.name = f"OVITO {ovito.version_string}"
        ovito.scene.pipelines.clear()
        data = DataCollection()
        particles = data.create_particles(count=len(scene.spheres))
        particles.create_property("Position", data=scene.spheres[:, :3])
        particles.create_property("Radius", data=scene.spheres[:, 3])
        particles.create_property("Color", data=np.ones((len(scene.spheres), 3)))
        particles.vis.scaling = 1.0
        self._pipeline = Pipeline(source=StaticSource(data=data))
        self._pipeline.add_to_scene()
        self._scene, self._renderer_type = scene, TachyonRenderer
        # Tachyon's rays go through the upper right corners of pixels: those of a picture that is
        # larger by a row and a column go through the centres of ours.
        half = np.tan(np.radians(FOV) / 2.0) * (scene.height + 1) / scene.height
        self._viewport = Viewport(
            type=Viewport.Type.Perspective, camera_pos=EYE, camera_up=(0.0, 1.0, 0.0),
            camera_dir=(-EYE[0], -EYE[1], -EYE[2]), fov=2.0 * np.arctan(half),
        )  # fmt: skip

    def time(self, work: str, mode: str, seconds: float) -> list[float]:
        frame = make_timer(lambda: self._render(work))
        frame()
        return repeated(frame, seconds)

    def answer(self, work: str, mode: str) -> Answer | None:
        """Return where spheres are seen alone: OVITO has lights of its own."""
        return Answer(None, None, None, self._render(work)[..., 3] > 127)

    def close(self) -> None:
        self._pipeline.remove_from_scene()

    def _render(self, work: str) -> Any:
        """Return the picture, uint8 (h, w, 4)."""
        renderer = self._renderer_type(
            antialiasing=False, ambient_occlusion=work == "ao", shadows=work == "shadow",
            direct_light=work != "ao", ambient_occlusion_samples=OCCLUSION_SAMPLES,
        )  # fmt: skip
        size = self._scene.width + 1, self._scene.height + 1
        image = self._viewport.render_image(size, renderer=renderer, alpha=True, frame=0)
        bits = image.convertToFormat(image.Format.Format_RGBA8888)
        pixels = np.frombuffer(bits.constBits(), np.uint8)
        return pixels.reshape(size[1], -1, 4)[1:, : self._scene.width]


def open_peer(scene: PeerScene, threads: int, backend: str) -> Spheres:
    if find_spec("ovito") is None:
        raise UserError("there is no OVITO: pip install ovito")
    if threads != choose_thread_count(0):
        raise UserError("OVITO takes all cores: leave --threads out")
    return Spheres(scene)
