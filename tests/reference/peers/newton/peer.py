"""Newton's camera sensor over particles, on an NVIDIA GPU, or on one core of a CPU for a check."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from raytracer.benchmark.statistics import make_timer, repeated
from raytracer.config.errors import UserError
from reference.peers.ours import stepped
from reference.peers.scenes import EYE, PeerScene
from reference.peers.turns import Answer

ORDERS = {"pixels": "VIEW_PRIORITY", "tiled": "TILED"}
MODES = {
    backend: {"primary": tuple(ORDERS), "shadow": tuple(ORDERS), "refit": ("particles",)}
    for backend in ("cuda", "cpu")
}


class Spheres:
    """Particles of a model of Newton, and a sensor that looks at them."""

    def __init__(self, scene: PeerScene, backend: str) -> None:
        import newton
        import warp as wp
        from newton.sensors import SensorCamera

        wp.config.quiet = True
        self._wp, self._sensor_type, self._scene = wp, SensorCamera, scene
        self.name = f"Newton {newton.__version__}, Warp {wp.__version__}"
        builder = newton.ModelBuilder(up_axis=newton.Axis.Y)
        builder.add_particles(
            pos=scene.spheres[:, :3].tolist(), vel=np.zeros((len(scene.spheres), 3)).tolist(),
            mass=[1.0] * len(scene.spheres), radius=scene.spheres[:, 3].tolist(),
        )  # fmt: skip
        device = wp.get_device("cpu" if backend == "cpu" else "cuda:0")
        self._device, self._model = device, builder.finalize(device=device)
        self._states, self._state = [self._model.state() for _ in range(2)], 0
        self._states[1].particle_q.assign(stepped(scene))
        self._sensor = SensorCamera(self._model)
        light = -np.array(scene.light) / np.linalg.norm(scene.light)
        self._sensor.create_default_light(direction=wp.vec3(*light.tolist()))
        self._places = wp.array([wp.transform_identity()], dtype=wp.transformf, device=device)
        self._rays = wp.array(self._directions(), dtype=wp.vec3f, device=device)
        self._film = self._sensor.allocate_image_color_hdr(1, scene.width, scene.height)
        self._depth = self._sensor.allocate_image_depth(1, scene.width, scene.height)

    def time(self, work: str, mode: str, seconds: float) -> list[float]:
        run = make_timer(
            self._refit if work == "refit" else lambda: self._frame(work, mode, answers=False),
            self._wait,
        )
        run()
        return repeated(run, seconds)

    def answer(self, work: str, mode: str) -> Answer | None:
        """Return distances alone: Newton's shadows keep 30% of the light, and it tells no ids."""
        if work == "refit":
            return None
        if self._state:
            self._refit()
        self._frame(work, mode, answers=True)
        depth = self._depth.numpy()[0]
        distances = np.where(depth > 0.0, depth, np.inf).astype(np.float32)
        return Answer(None, distances, None)

    def close(self) -> None:
        del self._sensor

    def _directions(self) -> Any:
        """Return origin and direction of the ray of each pixel, (h, w, 1, 2, 3)."""
        scene = self._scene
        right, up, forward = scene.basis
        x = 2.0 * (np.arange(scene.width) + 0.5) / scene.width - 1.0
        y = 1.0 - 2.0 * (np.arange(scene.height) + 0.5) / scene.height
        towards = forward + x[None, :, None] * right + y[:, None, None] * up
        towards /= np.linalg.norm(towards, axis=2, keepdims=True)
        rays = np.stack([np.broadcast_to(EYE, towards.shape), towards], axis=2)
        return rays[:, :, None].astype(np.float32)

    def _refit(self) -> None:
        self._state = 1 - self._state
        self._model.bvh_refit_particles(self._states[self._state])

    def _frame(self, work: str, mode: str, *, answers: bool) -> None:
        kind = self._sensor_type
        config = kind.RenderConfig(
            enable_shadows=work == "shadow", render_order=kind.RenderOrder[ORDERS[mode]]
        )
        self._sensor.update(
            self._states[self._state], self._places, self._rays, hdr_color_image=self._film,
            depth_image=self._depth if answers else None, render_config=config,
        )  # fmt: skip

    def _wait(self) -> None:
        self._wp.synchronize_device(self._device)


def open_peer(scene: PeerScene, threads: int, backend: str) -> Spheres:
    if find_spec("newton") is None:
        raise UserError("there is no Newton: pip install newton")
    return Spheres(scene, backend)
