"""Progressive film: coarse during interaction, then finer, then with more samples.

A draft is a picture of one sample per pixel that is soon replaced. With one sample, a
reconstruction filter moves each pixel's ray at random within its radius, which frays all outlines;
so a draft samples pixel centres. The finished picture starts again from zero samples.
"""

from collections.abc import Callable
from dataclasses import replace

from raytracer.backends.base import Device, DeviceFilm, Picture
from raytracer.film.aovs import GUIDES
from raytracer.film.film import Film
from raytracer.viewer.messages import RenderRequest, Size

InterruptCheck = Callable[[float], None]
"""Called with the completed fraction of a pass; raises `Superseded` to interrupt the pass."""


class Superseded(Exception):  # noqa: N818 - not an error: the picture is no longer needed
    """Interrupts a pass."""


class ProgressiveFilm:
    """A film that is restarted at another size or view; used by one thread."""

    def __init__(self) -> None:
        self.film: DeviceFilm | None = None
        self.size: Size = (0, 0)
        self.draft = False
        self.can_yield = False
        self._device: Device | None = None  # of the film
        self._clean: Film | None = None  # without noise, until samples are added

    @property
    def samples(self) -> int:
        return self.film.samples if self.film is not None else 0

    @property
    def pixels(self) -> int:
        return self.size[0] * self.size[1]

    def finished(self, request: RenderRequest) -> bool:
        """Return whether a request needs no more samples."""
        return not self.draft and self.size == request.size and self.samples >= request.samples

    def drop(self) -> None:
        if self.film is not None:
            self.film.close()
        self.film = None

    def restart(self, request: RenderRequest, size: Size, draft: bool) -> None:
        """Discard the samples and start at a size, in pixels."""
        view = request.buffers.view
        final = view.centered and not view.occlusion_rays and size == request.size
        self.draft = draft and not final
        device = request.loaded_scene.job.device
        if self.film is None or (self.size, self._device) != (size, device):
            self.drop()
            self.film, self.size = device.film(Film.blank(*size)), size
            self._device = device
        self.film.clear()
        self._clean = None

    def add(
        self, request: RenderRequest, count: int, check: InterruptCheck, backup: bool = False
    ) -> float:
        """Add samples, and return the seconds of the device.

        If the pass is interrupted, the film is restored with a backup, or dropped.
        """
        assert self.film is not None
        view, scene, sums = request.buffers.view, request.loaded_scene.job.scene, None
        if backup and self.samples and request.loaded_scene.job.device.can_interrupt:
            sums = self.film.to_host().sums.copy()
        self.can_yield = sums is not None or not self.samples
        self._clean = None
        if self.draft:
            view = view.as_draft(self.size[0] / request.size[0])
        try:
            return self.film.add(scene, view, count, check)
        except Superseded:
            if sums is None:
                self.drop()
            else:
                self.film.restore(sums)
            raise

    def develop_without_noise(self, request: RenderRequest, picture: Picture) -> None:
        """Develop the film denoised; the film keeps its noise. Takes a second or two."""
        from raytracer.film.denoise import denoised

        assert self.film is not None
        job = replace(request.loaded_scene.job, view=request.buffers.view)
        if self._clean is None:
            host = self.film.to_host()
            job.find_aovs(host, tuple(GUIDES))
            self._clean = denoised(host, job.threads)
        with job.film(self._clean) as clean:
            clean.develop_into(request.tone, picture)
