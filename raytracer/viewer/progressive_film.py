"""The film behind the window: coarse while something moves, then finer, then more samples.

A draft is a picture of one sample per pixel that is soon replaced. A reconstruction filter with one
sample moves every pixel's ray at random within its radius, which frays all outlines; so a draft
takes the pixels' centres. Its samples are not those of the finished picture, which begins anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raytracer.film.film import Film

if TYPE_CHECKING:
    from raytracer.backends.base import DeviceFilm
    from raytracer.viewer.messages import RenderRequest, Size

InterruptCall = Callable[[float], None]
"""Called with the part done of a pass; raises `Superseded` to leave it."""


class Superseded(Exception):  # noqa: N818 - no error: the picture is not wanted any more
    """Raised within a pass to leave it."""


class ProgressiveFilm:
    """A film that is begun anew at another size or look; used by one thread.

    film: on the device, with the samples so far; None before the first. size: of it, in pixels.
    draft: whether it is a draft.
    yields: whether leaving the pass that is under way loses no more than that pass.
    """

    def __init__(self) -> None:
        self.film: DeviceFilm | None = None
        self.size: Size = (0, 0)
        self.draft = False
        self.yields = False

    @property
    def samples(self) -> int:
        """A pixel, that are on the film."""
        return self.film.samples if self.film is not None else 0

    @property
    def pixels(self) -> int:
        """How many it has."""
        return self.size[0] * self.size[1]

    def finished(self, request: RenderRequest) -> bool:
        """Whether nothing is to be added for an order."""
        return not self.draft and self.size == request.size and self.samples >= request.samples

    def drop(self) -> None:
        """Forget what is on it, and give its memory back."""
        if self.film is not None:
            self.film.close()
        self.film = None

    def begin(self, request: RenderRequest, size: Size, draft: bool) -> None:
        """Empty it, at that size."""
        self.draft = draft and (not request.buffers.view.centered or size != request.size)
        if self.film is None or self.size != size:
            self.drop()
            self.film, self.size = request.loaded_scene.job.film(Film.blank(*size)), size
        self.film.clear()

    def expose(self, request: RenderRequest, count: int, leave: InterruptCall) -> None:
        """Add samples; where that is left, what is on the film is worth nothing."""
        assert self.film is not None
        view = request.buffers.view
        if self.draft:
            view = view.through_centers()
        self.film.add(request.loaded_scene.job.scene, view, count, leave)

    def add(self, request: RenderRequest, count: int, leave: InterruptCall, keep: bool) -> None:
        """Add samples; where that is left, the film is as before, or dropped if it is not kept.

        keep: copy what is on it first, if a pass can be left at once.
        """
        assert self.film is not None
        kept = None
        if keep and self.samples and request.loaded_scene.job.device.can_interrupt:
            kept = self.film.to_host().sums.copy()
        self.yields = kept is not None or not self.samples
        try:
            self.expose(request, count, leave)
        except Superseded:
            if kept is None:
                self.drop()
            else:
                self.film.restore(kept)
            raise
