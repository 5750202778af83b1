"""Names that occur in all frames of a file: of its types, and of other texts.

Colours of types and of categories follow from these names, so that each has one colour in all
frames, whichever of them is read. Of long files some frames are looked at; colours of further names
follow from hashes of these.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from raytracer.config.errors import UserError
from raytracer.config.warning import collect_warnings
from raytracer.files.access import OpenFile, open_file, translate_errors
from raytracer.model.data_file import DataFile
from raytracer.model.particle_labels import ParticleLabels, list_type_names
from raytracer.model.particle_source import ParticleSource
from raytracer.particles.columns import index_labels
from raytracer.particles.frames import find_frames, open_piece
from raytracer.particles.read import open_source, open_unframed_source
from raytracer.particles.registry import ISOLATED

MAX_BYTES = 1 << 24  # size of a file up to which other frames than the first one are looked at
MAX_FRAMES = 100  # most frames that are looked at
MAX_ASKED = 20  # the same of a library, or of a series of files
MAX_FAILED = 3  # most frames that cannot be read before no more are looked at
MAX_KEPT = 16  # most files whose names are kept
_kept: dict[Any, tuple[str, ...]] = {}


def complete_labels(
    labels: ParticleLabels, file: DataFile, stream: OpenFile, names: Mapping[str, str],
    beside: Iterable[DataFile] = (),
) -> ParticleLabels:  # fmt: skip
    """Return the labels of a frame with all labels of its file, and the order of the types of the
    file and of those beside it. names: as in `read`."""
    if labels.meaning == "elements" or (
        labels.meaning == "types" and all(map(str.isdecimal, labels.names))
    ):
        return labels
    find = partial(_labels_of, names=names)
    alone = labels._replace(known=tuple(labels.names))
    if stream.size > MAX_BYTES and not list_type_names(alone):
        return alone  # to look at the first frame, too, would take as long again
    labels = alone._replace(known=_collect_found_names(file, stream, find, names) or alone.known)
    types = dict.fromkeys(name for name in list_type_names(labels) if name in labels.known)
    for other in beside if types else ():
        if (other.path, other.inner) == (file.path, file.inner) or (
            other.series and other.series == file.series
        ):
            continue
        with suppress(UserError), open_file(other.path, other.name) as theirs:
            known = _collect_found_names(other, theirs, find, names, is_needed=True)
            types |= dict.fromkeys(list_type_names(labels._replace(names=[*known], known=known)))
    return labels._replace(types=tuple(sorted(types)))


def collect_names(
    file: DataFile, column: str, distinct: Callable[[NDArray[Any]], list[str]]
) -> tuple[str, ...]:
    """Return the distinct values of a column in all frames of a file as names, in order of first
    use, or its labels if the column is ""; none for a file of one frame, or that cannot be read.

    distinct: returns those of numbers, (N,).
    """

    def find(source: ParticleSource) -> list[str]:
        if not column:
            return _labels_of(source, {})
        known = source.columns.get(column)
        if known is None or known.shape or file.problem():
            return []
        values = source.load([column])[column]
        return distinct(values) if values.dtype.kind in "iufb" else index_labels(values, "")[0]

    with suppress(UserError), open_file(file.path, file.name) as stream:
        return _collect_found_names(file, stream, find, column)
    return ()


def _labels_of(source: ParticleSource, names: Mapping[str, str]) -> list[str]:
    labels = source.particles(names).labels
    return [] if labels is None else labels.names


def _collect_found_names(
    file: DataFile, stream: OpenFile, find: Callable[[ParticleSource], list[str]], what: Any,
    is_needed: bool = False,
) -> tuple[str, ...]:  # fmt: skip
    """Return what a function finds in the frames of a file, in order of first use; nothing for a
    file of one frame unless it is needed. what: tells apart what is looked for."""
    if stream.is_standard_input or file.topology is not None:
        return ()
    series = _pick_evenly(list(file.series), MAX_ASKED)
    try:
        states = [path.stat() for path in series or [stream.path]]
    except OSError:
        return ()
    if sum(state.st_size for state in states) > MAX_BYTES:
        series = series[:1]
    key = (
        stream.path.absolute() if not series else tuple(map(str, file.series)), file.inner,
        file.ending, str(what), is_needed,
        *((state.st_size, state.st_mtime_ns) for state in states),
    )  # fmt: skip
    if key not in _kept:
        found: dict[str, None] = {}
        failed = 0
        with collect_warnings(), suppress(UserError):
            for source in _open_sources(file, stream, series, is_needed):
                if failed > MAX_FAILED:
                    break
                failed += 1
                with suppress(UserError), translate_errors(stream.source, source.format):
                    found |= dict.fromkeys(find(source))
                    failed -= 1
        _kept[key] = tuple(found)
        while len(_kept) > MAX_KEPT:
            del _kept[next(iter(_kept))]
    return _kept[key]


def _open_sources(
    file: DataFile, stream: OpenFile, series: list[Path], is_needed: bool
) -> Iterator[ParticleSource]:
    """Yield the sources of the frames that are looked at."""

    for path in series if len(file.series) > 1 else ():
        with (
            suppress(UserError, OSError),
            open_source(file._replace(path=path, series=())) as source,
        ):
            yield source
    if len(file.series) > 1:
        return
    with ExitStack() as stack:
        form, source, content = stack.enter_context(open_unframed_source(file, stream))
        is_small = content.size <= MAX_BYTES
        count, starts = find_frames(source, stream) if is_small else (1, None)
        if is_small and count == 1 and not is_needed:
            return
        most = MAX_ASKED if form.module in ISOLATED else MAX_FRAMES
        for frame in _pick_evenly(range(count), most):
            with suppress(UserError):
                if starts is None or count == 1:
                    if count > 1 or not source.has_pieces:
                        source.go_to(frame)
                    yield source
                else:
                    yield open_piece(form, source, content, starts, file.inner, frame)


def _pick_evenly(values: Any, most: int) -> list[Any]:
    """Return at most `most` values, evenly spread, with the first and the last one."""
    last, count = len(values) - 1, min(len(values), most)
    return [values[k * last // max(count - 1, 1)] for k in range(count)]
