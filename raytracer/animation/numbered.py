"""Numbered pictures of an animation: PNG, or films as OpenEXR. A finished one says so itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError

if TYPE_CHECKING:
    from raytracer.film.image import Image

NUMBER = re.compile(r"#+|%0?(\d*)d")
"""What stands for the number in the name of a picture."""


@dataclass(frozen=True)
class NumberedPictures:
    """The pictures of an animation in a folder.

    Args:
        target: their path, with # or %d for the number.
        digest: of all that the frames depend on.
        count: number of frames.
    """

    target: Path
    digest: str
    count: int

    @property
    def folder(self) -> Path:
        """Where the pictures are."""
        return self.target.parent

    @property
    def is_film(self) -> bool:
        """Whether they are films."""
        return self.target.suffix.lower() == ".exr"

    def in_folder(self, folder: Path) -> NumberedPictures:
        """Return the same pictures in another folder."""
        return NumberedPictures(folder / self.target.name, self.digest, self.count)

    def path(self, index: int) -> Path:
        """Return the name of a picture."""
        digits = max(len(str(self.count - 1)), 1)

        def number(found: re.Match[str]) -> str:
            width = len(found[0]) if found[0].startswith("#") else int(found[1] or 0)
            return f"{index:0{max(width, digits if width else 0)}d}"

        return self.target.with_name(NUMBER.sub(number, self.target.name, count=1))

    def has(self, index: int) -> bool:
        """Whether a picture is finished."""
        return bool(self._about(index).get("digest") == self.digest)

    def exposure(self) -> float | None:
        """Return the exposure that an earlier run metered in the first frame, or None."""
        found = self._about(0)
        value = found.get("exposure") if found.get("digest") == self.digest else None
        return float(value) if isinstance(value, (int, float)) else None

    def save(self, index: int, image: Image, exposure: float | None) -> None:
        """Write a picture. Raises OutputError: it cannot be written."""
        about: dict[str, Any] = {"frame": index, "of": self.count}
        about |= {"digest": self.digest, "exposure": exposure}
        image.metadata["animation"] = about
        path = self.path(index)
        if self.is_film:
            image.film.metadata |= {"animation": about}
            image.film.save(path)
        else:
            image.save(path)

    def _about(self, index: int) -> dict[str, Any]:
        """Return what a picture of an earlier run says of itself, or {}."""
        path = self.path(index)
        if not path.is_file():
            return {}
        try:
            found = _metadata(path, self.is_film).get("animation")
        except UserError:
            return {}
        return found if isinstance(found, dict) else {}


def _metadata(path: Path, is_film: bool) -> dict[str, Any]:
    """Return the metadata of a picture. Raises UserError: it is broken."""
    if is_film:
        from raytracer.film import film_file

        return film_file.read_metadata(path, is_input=False)
    from raytracer.film import png

    return png.read_metadata(path, is_input=False) or {}
