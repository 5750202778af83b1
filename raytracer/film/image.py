"""The picture that a render gives: linear array, PNG, metadata."""

from __future__ import annotations

import io
import json
import time
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from raytracer._version import __version__
from raytracer.files import output
from raytracer.film import png, tone
from raytracer.film.film import outline
from raytracer.film.statistics import Statistics, statistics_of
from raytracer.film.tone_settings import ToneSettings

if TYPE_CHECKING:
    from pathlib import Path

    from raytracer.film.film import Film

# codes, (h, w, 4), and a tally
Developed = tuple[tone.Pixels, NDArray[np.void]]


@dataclass(repr=False)
class Image:
    """A rendered picture.

    NumPy and what builds on it take it as the array of `to_uint8`: `np.asarray(image)`,
    `plt.imshow(image)`, `PIL.Image.fromarray(np.asarray(image))`.

    Args:
        film: sums of linear radiance; pass it to `render(..., film=)` to add samples.
        transparent: whether the alpha channel is kept in the PNG.
        timings: seconds of each stage.
        metadata: what made it; saved in the PNG.
        threads: threads for encoding; 0 takes every core that the process may use.
        settings: exposure and tone curve; `tonemap` gives the picture with others.
    """

    film: Film
    transparent: bool = False
    timings: dict[str, float] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    threads: int = 0
    settings: ToneSettings = field(default_factory=ToneSettings)
    # by bits and samples: what a backend made of the film while it was there
    _made: dict[tuple[int, int], Developed] = field(default_factory=dict, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Image: {outline(self.film, self.metadata)}>"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The picture as `to_uint8` gives it, for NumPy.

        Args:
            dtype: of the array; None is uint8.
            copy: False is refused, for the array is computed.
        """
        if copy is False:
            raise ValueError("a picture is made from its film, so that its array is always a copy")
        return np.array(self.to_uint8(), dtype=dtype)

    def tonemap(self, **settings: Any) -> Image:
        """Return the same film with another exposure or curve.

        Args:
            **settings: `exposure`, `tone`, `white`, `dither`, `meter`, `meter_range`, as
                `ToneSettings` describes them; those that are left out are as before.

        Raises:
            UserError: a setting makes no sense.
        """
        return replace(self, settings=replace(self.settings, **settings), _made={})

    @property
    def statistics(self) -> Statistics:
        """What is in the film, and in the picture."""
        bits = 16 if (16, self.film.samples) in self._made else 8
        return self._statistics(self._developed(bits)[1])

    def keep(self, bits: int, pixels: tone.Pixels, tally: NDArray[np.void]) -> None:
        """Take a picture that a backend made of the film with these settings."""
        self._made[bits, self.film.samples] = pixels, tally

    @cached_property
    def array(self) -> NDArray[np.float32]:
        """The linear picture as float32 (h, w, 4), RGB premultiplied by alpha and alpha.

        Alpha is 1 before an opaque background, else the coverage.
        """
        return self.film.mean()

    def to_uint8(self) -> NDArray[np.uint8]:
        """The picture as uint8 sRGB: (h, w, 3), or (h, w, 4) if the background is transparent."""
        return self._shown(self._developed(8)[0]).astype(np.uint8, copy=False)

    def to_uint16(self) -> NDArray[np.uint16]:
        """The same with 16 bits per channel."""
        return self._shown(self._developed(16)[0]).astype(np.uint16, copy=False)

    def codes(self, bits: int = 8) -> tone.Pixels:
        """The picture as uint8 or uint16 (h, w, 4), with alpha whatever `transparent` says."""
        return self._developed(bits)[0]

    def save(self, path: str | Path, bits: int = 8, batch: output.Batch | None = None) -> Path:
        """Write a PNG of 8 or 16 bits per channel under a temporary name, then rename it.

        Args:
            path: the file, `.png`.
            bits: 8 or 16 per channel.
            batch: a `raytracer.files.output.Batch`, to rename it together with other files.

        Returns:
            The path.

        Raises:
            OutputError: the file cannot be written.
        """
        tone.check_bits(bits, self.settings)
        files = output.OutputSet()
        files.reads(*self.film.inputs)
        target = output.check_picture(files.writes(path, "the picture"))
        start = time.perf_counter()
        made = self._developed(bits)
        self.timings.setdefault("tone", time.perf_counter() - start)
        start = time.perf_counter()
        with output.replacing(target, batch) as file:
            self._write(file, *made)
        self.timings["write"] = time.perf_counter() - start
        return target

    def _developed(self, bits: int) -> Developed:
        """The codes, (h, w, 4), and the tally with their counts."""
        if made := self._made.get((bits, self.film.samples)):
            return made
        tone.check_bits(bits, self.settings)
        tally = tone.measure(self.film, self.settings, self.threads)
        return tone.develop(self.film, self.settings, bits, self.threads, tally), tally

    def _statistics(self, tally: NDArray[np.void]) -> Statistics:
        return statistics_of(tally, self.settings.stops(tally))

    def _shown(self, codes: tone.Pixels) -> tone.Pixels:
        return codes if self.transparent else codes[..., :3]

    def _write(self, file: BinaryIO, codes: tone.Pixels, tally: NDArray[np.void]) -> None:
        """Write a PNG file."""
        # The file cannot hold how long it took to write itself.
        stages = {k: v for k, v in self.timings.items() if k not in ("write", "total")}
        known = stages | {"total_before_write": sum(stages.values())}
        found = self._statistics(tally).to_dict()
        del found["bins"]  # for programs: film.statistics() has them
        about = self.metadata | {"tone": asdict(self.settings), "statistics": found}
        text = {
            "Software": f"raytracer {__version__}",
            png.KEY: json.dumps(about | {"timings": known}),
        }
        png.write(file, self._shown(codes), text, self.threads)

    def _repr_png_(self) -> bytes:
        """What Jupyter shows."""
        file = io.BytesIO()
        self._write(file, *self._developed(8))
        return file.getvalue()
