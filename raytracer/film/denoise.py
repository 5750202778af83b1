"""Denoising by Intel Open Image Denoise (the extra `denoise`), guided by albedo and normals."""

from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import BackendError, UserError
from raytracer.film.aovs import GUIDES
from raytracer.film.film import Film
from raytracer.system.resources import choose_thread_count

Pixels = NDArray[np.float32]

MARGIN = 32
"""Pixels around a picture in which it is mirrored: at the edges of its input, Open Image Denoise
darkens and tints."""


def require_denoiser() -> None:
    """Raise UserError if the library is not installed."""
    if find_spec("pyoidn") is None:
        raise UserError("denoising needs a package: pip install 'raytracer[denoise]'")


def find_guides(film: Film) -> tuple[Pixels, Pixels] | None:
    """Return albedo and normal of a film, float32 (h, w, 3) each; None if it lacks one."""
    for names in (GUIDES, GUIDES.values()):  # without means, the pixels' centres
        if all(name in film.aovs for name in names):
            albedo, normal = (np.asarray(film.aovs[name], np.float32) for name in names)
            return albedo, normal
    return None


def denoise_film(film: Film, threads: int = 0) -> Film:
    """Return a copy of a film without noise, whose pixels all have the same number of samples.

    It is denoised before exposure and tone curve; albedo and normal, if any, keep edges sharp. Over
    a transparent background the coverage is denoised too. Pixels that are not finite are unchanged.

    Raises UserError if the library is missing, BackendError if it reports an error.
    """
    require_denoiser()
    film.require_whole()
    film = film.evened()
    result = film.copy()
    result.metadata["denoised"] = True  # no samples to add to
    if film.samples == 0:
        return result
    finite = np.isfinite(film.sums).all(axis=-1, keepdims=True)
    zero, count = np.float32(0), np.float32(film.samples)
    mean = np.asarray(np.where(finite, np.maximum(film.sums, zero), zero) / count, np.float32)
    guides = find_guides(film)
    light = filter_color(mean[..., :3], guides, hdr=True, threads=threads)
    result.sums[..., :3] = np.where(finite, light * count, film.sums[..., :3])
    if film.backdrop is None:
        alpha = np.repeat(mean[..., 3:], 3, axis=-1)
        alpha = np.clip(filter_color(alpha, guides, hdr=False, threads=threads)[..., :1], 0, 1)
        result.sums[..., 3:] = np.where(finite, alpha * count, film.sums[..., 3:])
    return result


def filter_color(
    color: Pixels, guides: tuple[Pixels, Pixels] | None, *, hdr: bool, threads: int = 0
) -> Pixels:
    """Return linear light, float32 (h, w, 3), without noise; hdr: whether values may exceed 1."""
    import pyoidn

    images: dict[str, Any] = {"color": _mirror_edges(color)}
    if guides is not None:
        albedo = np.clip(np.nan_to_num(guides[0], nan=0.0), 0, 1)
        normal = np.clip(np.nan_to_num(guides[1], nan=0.0), -1, 1)
        images |= {"albedo": _mirror_edges(albedo), "normal": _mirror_edges(normal)}
    images["output"] = np.empty_like(images["color"])
    with ExitStack() as stack:
        device = stack.enter_context(pyoidn.Device(pyoidn.OIDN_DEVICE_TYPE_CPU))
        device.set_int("numThreads", choose_thread_count(threads))
        device.set_bool("setAffinity", False)
        device.commit()
        _check(device)
        denoiser = stack.enter_context(pyoidn.Filter(device, pyoidn.OIDN_FILTER_TYPE_RT))
        for name, image in images.items():
            denoiser.set_image(name, image, pyoidn.OIDN_FORMAT_FLOAT3)
        denoiser.set_bool("hdr", hdr)
        denoiser.set_quality(pyoidn.OIDN_QUALITY_HIGH)
        denoiser.commit()
        denoiser.execute()
        _check(device)
    output: Pixels = images["output"][MARGIN:-MARGIN, MARGIN:-MARGIN]
    return output


def _mirror_edges(image: Pixels) -> Pixels:
    """Return a picture with its mirror images around it, contiguous."""
    return np.pad(image, ((MARGIN, MARGIN), (MARGIN, MARGIN), (0, 0)), mode="symmetric")


def _check(device: Any) -> None:
    if message := device.get_error():
        raise BackendError(f"denoising failed: {message}")
