"""Mitsuba 3: ellipsoids or spheres, on the CPU by LLVM or on an NVIDIA GPU."""

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.benchmark.statistics import make_timer, repeated
from raytracer.config.errors import UserError
from reference.peers.scenes import AMBIENT, DIFFUSE, EYE, FOV, PeerScene
from reference.peers.turns import NOTHING, Answer

VARIANTS = {"cpu": "llvm_ad_rgb", "cuda": "cuda_ad_rgb"}
MODES = {backend: {"shadow": ("ellipsoids", "spheres")} for backend in VARIANTS}
MOST = 10_000  # objects of a scene: they take a millisecond each to load


class Spheres:
    """A scene in Mitsuba. The ambient light costs no rays and is added to answers."""

    def __init__(self, scene: PeerScene, threads: int, backend: str) -> None:
        import drjit
        import mitsuba

        mitsuba.set_variant(VARIANTS[backend])
        if backend == "cpu":
            drjit.set_thread_count(threads)
        self.name = f"Mitsuba {mitsuba.__version__} {VARIANTS[backend]}"
        self._mi, self._dr, self._scene = mitsuba, drjit, scene
        self._loaded: Any = None
        self._mode = ""

    def time(self, work: str, mode: str, seconds: float) -> list[float]:
        self._load(mode)
        frame = make_timer(self._render, self._dr.sync_thread)
        frame()
        return repeated(frame, seconds)

    def answer(self, work: str, mode: str) -> Answer | None:
        scene, mi = self._scene, self._mi
        self._load(mode)
        columns, rows = np.meshgrid(np.arange(scene.width), np.arange(scene.height))
        x = (2.0 * (columns + 0.5) / scene.width - 1.0).reshape(-1, 1)
        y = (1.0 - 2.0 * (rows + 0.5) / scene.height).reshape(-1, 1)
        right, up, forward = scene.basis
        towards = forward + x * right + y * up
        towards /= np.linalg.norm(towards, axis=1, keepdims=True)
        eye = [mi.Float(float(value)) for value in EYE]
        rays = mi.Ray3f(mi.Point3f(*eye), mi.Vector3f(*towards.astype(np.float32).T))
        found = self._loaded.ray_intersect_preliminary(rays)
        distances = np.array(found.t).reshape(scene.height, scene.width)
        hit = np.isfinite(distances)
        ids = np.where(hit, self._numbers(found, mode).reshape(hit.shape), NOTHING)
        film = np.zeros((*hit.shape, 4), np.float32)
        film[..., :3] = np.array(self._render())[..., :3] + AMBIENT * hit[..., None]
        film[..., 3] = hit
        return Answer(ids.astype(np.uint32), distances.astype(np.float32), film)

    def close(self) -> None:
        self._loaded = None

    def _render(self) -> Any:
        image = self._mi.render(self._loaded, spp=1)
        self._dr.eval(image)
        self._dr.sync_thread()
        return image

    def _load(self, mode: str) -> None:
        if mode != self._mode:
            self._loaded, self._mode = self._mi.load_dict(self._description(mode)), mode

    def _numbers(self, found: Any, mode: str) -> NDArray[np.uint32]:
        """Return the number of the sphere of each hit."""
        if mode == "ellipsoids":
            return np.array(found.prim_index, np.uint32)
        of_hits, of_all = (
            np.array(self._dr.reinterpret_array(self._mi.UInt32, each))
            for each in (found.shape, self._loaded.shapes_dr())
        )
        numbers = np.zeros(of_all.max() + 1, np.uint32)
        numbers[of_all] = np.arange(len(of_all))
        return np.asarray(numbers[of_hits])

    def _shapes(self, mode: str) -> dict[str, Any]:
        mi, (centers, radii) = self._mi, np.split(self._scene.spheres, [3], axis=1)
        bsdf = {"type": "diffuse", "reflectance": {"type": "rgb", "value": DIFFUSE}}
        if mode == "ellipsoids":
            turns = np.tile(np.array([0, 0, 0, 1], np.float32), (len(radii), 1))
            arrays = {"centers": centers, "scales": np.repeat(radii, 3, 1), "quaternions": turns}
            tensors = {name: mi.TensorXf(values) for name, values in arrays.items()}
            return {"spheres": {"type": "ellipsoids", "extent": 1.0, "bsdf": bsdf, **tensors}}
        if len(radii) > MOST:
            raise UserError(f"Mitsuba has no more than {MOST:,} single spheres here")
        known = mi.load_dict(bsdf)
        return {
            f"sphere{number:05}": {
                "type": "sphere", "center": sphere[:3], "radius": sphere[3], "bsdf": known
            }
            for number, sphere in enumerate(self._scene.spheres.tolist())
        }  # fmt: skip

    def _description(self, mode: str) -> dict[str, Any]:
        mi, scene = self._mi, self._scene
        light: NDArray[np.float64] = np.array(scene.light)
        sensor = {
            "type": "perspective", "fov": FOV, "fov_axis": "y",
            "to_world": mi.ScalarTransform4f().look_at(list(EYE), [0.0] * 3, [0.0, 1.0, 0.0]),
            # no jitter: the ray of a sample goes through the centre of its pixel
            "sampler": {"type": "stratified", "sample_count": 1, "jitter": False},
            "film": {
                "type": "hdrfilm", "width": scene.width, "height": scene.height,
                "rfilter": {"type": "box"}, "pixel_format": "rgba",
            },
        }  # fmt: skip
        key = {
            "type": "directional", "direction": (-light / np.linalg.norm(light)).tolist(),
            "irradiance": {"type": "rgb", "value": float(np.pi)},
        }  # fmt: skip
        integrator = {"type": "direct", "emitter_samples": 1, "bsdf_samples": 0}
        return {"type": "scene", "integrator": integrator, "sensor": sensor, "light": key,
                **self._shapes(mode)}  # fmt: skip


def open_peer(scene: PeerScene, threads: int, backend: str) -> Spheres:
    if find_spec("mitsuba") is None:
        raise UserError("there is no Mitsuba: pip install mitsuba")
    return Spheres(scene, threads, backend)
