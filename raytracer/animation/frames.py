"""Finished frames of an animation on disk, from which an interrupted run continues.

Frames of a movie are kept beside it until it is complete: NumPy archives whose names have the
number of the frame and a digest of all that it depends on, and whose checksums reveal damage.
Numbered pictures are PNG or OpenEXR, and have the digest in their metadata.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from raytracer.animation.encoder import (
    PICTURES,
    Pixels,
    VideoWriter,
    check_movie,
    make_frame,
    write_picture,
)
from raytracer.animation.shots import Plan
from raytracer.config.errors import OutputError, UserError, WriteError
from raytracer.files import inputs, output
from raytracer.film.image import Image

NUMBER = re.compile(r"#+|%0?(\d*)d")  # placeholder of the number in the name of a picture

_KEPT = re.compile(rf"\d{{6,}}-[0-9a-f]{{16}}\.npz|{re.escape(output.PREFIX)}\S+\.tmp")
MAX_TRIES = 100  # most times that a frame is written: others may remove its folder


class NumberedPictures:
    """Finished frames, one file each: pictures, PNG or OpenEXR, with their numbers in their names.

    target: path of the movie, or of numbered pictures with # or %d for the number. digest: of all
    that the frames depend on, 16 hexadecimal digits. is_part: whether other calls write some of
    the frames.
    """

    hashed = True
    """Whether pictures have a digest of their content."""

    def __init__(self, plan: Plan, target: Path, digest: str, is_part: bool = False) -> None:
        self.plan, self.target, self.digest = plan, target, digest
        self.is_part, self.is_film = is_part, target.suffix.lower() == ".exr"

    def check(self, outputs: output.OutputSet) -> None:
        """Declare the files. Raises UserError: they cannot be written."""
        target, plan = self.target, self.plan
        if target.suffix.lower() not in (".png", ".exr"):
            raise OutputError(f"{target}: numbered pictures end in .png or .exr")
        if plan.settings.codec is not None:
            raise UserError(f"{target}: numbered pictures have no codec: leave --codec out")
        _create(target.parent)
        if self.is_film:
            from raytracer.film import film_file

            film_file.check_target(target.with_name("0.exr"))
        output.check_file(self.path(0))
        for shot in plan.shots:
            outputs.declare(self.path(shot.index), "the pictures")

    @contextmanager
    def writing(self, resume: bool) -> Iterator[None]:
        """While all frames are kept or taken, in order; resume: whether to use finished ones."""
        yield

    def path(self, index: int) -> Path:
        return numbered_path(self.target, index, len(self.plan.shots))

    def has(self, index: int) -> bool:
        """Whether a frame is finished."""
        path = self.path(index)
        if not path.is_file():
            return False
        from raytracer.film import film_file, formats

        read = film_file.read_metadata if self.is_film else formats.read_metadata
        try:
            about = read(path, is_input=False).get("animation")
        except UserError:
            return False
        return isinstance(about, dict) and about.get("digest") == self.digest

    def keep(self, index: int, image: Image) -> None:
        """Write a rendered frame; on the writing thread."""
        about = {"frame": index, "of": len(self.plan.shots), "digest": self.digest}
        image.metadata["animation"] = about
        if self.is_film:
            image.film.metadata |= {"animation": about}
        (image.film if self.is_film else image).save(self.path(index))

    def finished(self, index: int) -> Pixels | None:
        """Return a frame of an earlier run if it is needed again."""
        return None

    def take(self, pixels: Pixels | None) -> None:
        """Use a frame of an earlier run; on the writing thread."""


class Movie(NumberedPictures):
    """A movie or a moving picture. Its finished frames are in the folder NAME.frames beside it,
    until it is complete.

    Several commands may write one movie. Who completes it removes the frames; another one that
    needs them makes them again.

    remake: renders a frame that is gone.
    """

    hashed = False  # the poster has one
    remake: Callable[[int], Image]
    _video: VideoWriter | None = None  # writes frames as they come

    @property
    def poster(self) -> Path:
        return self.target.with_suffix(".poster.png")

    @property
    def folder(self) -> Path:
        return self.target.with_name(f"{self.target.name}.frames")

    def check(self, outputs: output.OutputSet) -> None:
        target, plan = self.target, self.plan
        check_movie(target, plan.settings.codec, bool(plan.overrides.get("transparent")))
        output.check_file(outputs.declare(target, "the movie"))
        output.check_file(outputs.declare(self.poster, "the poster"))

    @contextmanager
    def writing(self, resume: bool) -> Iterator[None]:
        settings = self.plan.settings
        if not resume:
            self.remove()
        try:
            if self.is_part:
                yield
                return
            with output.replace_file(self.target) as file:
                if self.target.suffix.lower() in PICTURES:
                    yield
                    count = len(self.plan.shots)
                    write_picture(
                        file, self.target, self.read, count, settings.fps, settings.quality
                    )
                else:
                    self._video = VideoWriter(
                        file, self.target, settings.fps, settings.codec, settings.quality
                    )
                    yield
                    self._video.close()
            self.remove()
        except BaseException:
            if self.plan.source.signature() is None:
                self.remove(self.digest)
            raise

    def keep(self, index: int, image: Image) -> None:
        pixels = make_frame(image, self.target)
        if index == 0:
            image.save(self.poster)
        self.store(index, pixels)
        if self._video is not None:
            self._video.add(pixels)

    def finished(self, index: int) -> Pixels | None:
        return None if self._video is None else self.read(index)

    def take(self, pixels: Pixels | None) -> None:
        if self._video is not None and pixels is not None:
            self._video.add(pixels)

    def path(self, index: int) -> Path:
        return self.folder / f"{index:06d}-{self.digest}.npz"

    def has(self, index: int) -> bool:
        return self.path(index).is_file()

    def store(self, index: int, pixels: Pixels) -> None:
        """Store a frame, uint8 (h, w, 3 or 4). Raises OutputError: the disk is full."""
        for tries in range(1, MAX_TRIES + 1):
            _create(self.folder)
            try:
                with output.replace_file(self.path(index)) as file:
                    np.savez(file, frame=pixels)  # to compress would take as long as the encoder
                return
            except WriteError as error:
                is_gone = isinstance(error.__cause__, FileNotFoundError)
                if not is_gone or tries == MAX_TRIES:
                    raise

    def read(self, index: int) -> Pixels:
        """Return a stored frame; one that another command has removed is made again."""
        path = self.path(index)
        try:
            with path.open("rb") as file, np.load(file) as archive:
                pixels: Pixels = archive["frame"]
        except FileNotFoundError:
            pixels = make_frame(self.remake(index), self.target)
            self.store(index, pixels)
        except Exception:  # of zipfile, zlib or NumPy
            raise OutputError(f"{path}: is damaged: run the command again with --fresh") from None
        return pixels

    def remove(self, digest: str = "") -> None:
        """Remove the frames, all or those with a digest, and the folder if it is then empty; no
        file that is read."""
        read = {inputs.file_identity(path) for path in self.plan.source.files}
        with suppress(OSError):
            for path in list(self.folder.iterdir()):
                is_read = inputs.find_input(path) is not None or inputs.file_identity(path) in read
                if _KEPT.fullmatch(path.name) and digest in path.name and not is_read:
                    path.unlink(missing_ok=True)
            self.folder.rmdir()


def numbered_path(target: Path, index: int, count: int) -> Path:
    """Return the path of one of `count` pictures, whose name has # or %d for the number."""
    digits = len(str(count - 1))

    def number(match: re.Match[str]) -> str:
        width = len(match[0]) if match[0].startswith("#") else int(match[1] or 0)
        return f"{index:0{max(width, digits if width else 0)}d}"

    return target.parent / NUMBER.sub(number, target.name, count=1)


def _create(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created ({error.strerror})") from None
