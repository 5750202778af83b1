"""Save job: renders a picture to a file, as `raytracer render` does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from raytracer import memory
from raytracer.errors import UserError
from raytracer.files import output
from raytracer.film.film import Film
from raytracer.film.image import Image
from raytracer.viewer.messages import RenderRequest

Deliver = Callable[[Image], object]


class SaveJob:
    """Renders the same pixels as `raytracer render` with this camera, size and samples.

    path: of the file. With `deliver`, only a name: that function takes the picture.
    """

    def __init__(
        self, request: RenderRequest, path: Path, view: str = "", deliver: Deliver | None = None
    ) -> None:
        self._request, self._view = request, view
        self.path = path if deliver else output.check_picture(path)
        self._deliver = deliver or (lambda image: image.save(self.path))
        self.fraction = 0.0
        self.writing = False  # whether all is rendered and the file is being written
        width, height = request.size
        memory.require_room(str(path), memory.Need(0, width, height).extra, "to be rendered")

    def run(self, check: Callable[[], None]) -> None:
        """Render and write the picture; `check` is called periodically while it is rendered and may
        raise to cancel it."""
        request, loaded = self._request, self._request.loaded_scene
        if loaded.closed:
            raise UserError(f"{self.path}: not saved, because the scene was reloaded")
        width, height = request.size
        settings = (request.settings or loaded.job.settings).override(
            width=width, height=height, samples=request.samples
        )
        digest = replace(loaded.packed, view=request.buffers.view).digest()
        about = loaded.job.about | {
            "scene": loaded.job.about["scene"] | {"digest": digest},
            "settings": vars(settings).copy(), "view": self._view,
        }  # fmt: skip
        del about["camera"]  # of the scene, not of the saved view
        view = request.buffers.view.with_samples(0, request.samples)
        job = replace(
            loaded.job, settings=settings, view=view, about=about, timings={}, camera=None,
            kept=None,
        )  # fmt: skip

        def progress(fraction: float) -> None:
            self.fraction = fraction
            check()

        with job.film(Film.blank(*request.size)) as film:
            job.expose(film, request.samples, progress)
            image = job.image(film, request.tone, 8)
        self.writing = True
        self._deliver(image)
