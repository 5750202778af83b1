"""Frame sets of TNG trajectories (GROMACS): which frames hold positions.

The library of TNG, which chemfiles uses, expects data in each frame set, at multiples of one
stride, and so loses, repeats or invents frames where boxes, velocities and positions are written at
different steps. Here the blocks of the file say which frames hold positions. The library then reads
a file of one frame set alone, which starts at such a frame.
"""

import os
import struct
from typing import IO, NamedTuple

from raytracer.config.errors import DataFileError
from raytracer.files.access import OpenFile

FRAME_SET, BOXES, POSITIONS = 2, 0x10000000, 0x10000001
LIKE_POSITIONS = (BOXES, POSITIONS, 0x10000002, 0x10000003)  # also velocities and forces
HEADER, HASH = "QQQ", 16  # sizes of header and content, and kind, before the hash of the content
MAX_NAME = 1024  # bytes of a name, with its 0
STRINGS = 9  # before the numbers of the first block
LINKS = 6  # positions of other frame sets, at the end of the block of a frame set
OF_FRAMES, OF_PARTICLES = 1, 2
MAX_META = 64  # bytes before the values of a block
MAX_RATIO = 100  # frames per byte of compressed values, of which equal ones take least


class DataBlock(NamedTuple):
    """A block of a file."""

    kind: int
    start: int  # of the header in the file
    content: int  # where its content starts
    end: int
    first: int = 0  # number of the first frame with data
    stride: int = 1
    place: int = 0  # of these two numbers in its content; 0 if it states none


class FrameSet(NamedTuple):
    head: DataBlock
    first: int  # number of its first frame
    end: int  # and of the one after its last
    blocks: list[DataBlock]

    def frames(self, block: DataBlock) -> range:
        """Return the frames with data of a block."""
        return range(block.first, self.end, block.stride)

    @property
    def with_positions(self) -> range:
        found = (self.frames(each) for each in self.blocks if each.kind == POSITIONS)
        return next(found, range(0))

    @property
    def lacks_positions(self) -> bool:
        """Whether other data are those of frames without positions."""
        known = self.with_positions
        others = (self.frames(each) for each in self.blocks if each.kind in LIKE_POSITIONS)
        return any(
            each and not (each[0] in known and each[-1] in known and each.step % known.step == 0)
            for each in others
        )


class Blocks:
    """The frame sets of a file. Raises DataFileError: it is damaged."""

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._descriptor = file.file.fileno()
        first = self._read(0, 8)
        self._order = "<" if first[:1] != b"\0" else ">"  # as the library decides
        self.sets: list[FrameSet] = []
        self.is_cut = False  # whether the last frame set is incomplete
        at, self._start = 0, 0
        while at < file.size:
            block = self._block(at)
            if block.end > file.size:
                self.is_cut = True
                self.sets[-1:] = []
                break
            if block.kind == FRAME_SET:
                self._start = self._start or at
                number, count = self._numbers("qq", block.content)
                self.sets.append(FrameSet(block, number, number + max(count, 0), []))
            elif self.sets:
                is_data = block.kind >= BOXES
                of = self.sets[-1]
                of.blocks.append(self._with_frames(block, of) if is_data else block)
            at = block.end

    def _read(self, at: int, size: int) -> bytes:
        data = os.pread(self._descriptor, size, at)
        if len(data) < size:
            raise DataFileError(f"{self._file.source}: is incomplete or damaged")
        return data

    def _numbers(self, form: str, at: int) -> tuple[int, ...]:
        form = self._order + form
        return struct.unpack(form, self._read(at, struct.calcsize(form)))

    def _block(self, at: int) -> DataBlock:
        header, content, kind = self._numbers(HEADER, at)
        if header < struct.calcsize("=" + HEADER) + HASH or max(header, content) >= 1 << 62:
            raise DataFileError(f"{self._file.source}: is damaged: byte {at:,} starts no block")
        return DataBlock(kind, at, at + header, at + header + content)

    def _with_frames(self, block: DataBlock, of: FrameSet) -> DataBlock:
        """Return a block with the numbers of its frames."""
        data = os.pread(self._descriptor, min(MAX_META, block.end - block.content), block.content)
        if len(data) < 3 or not data[1] & OF_FRAMES or not data[2]:
            return block._replace(first=of.first)
        place = 11  # type, dependency, sparseness, number of values
        (codec,) = struct.unpack_from(self._order + "q", data.ljust(MAX_META, b"\0"), place)
        place += 8 if codec == 0 else 16  # and the factor of a codec
        first, stride = self._numbers("qq", block.content + place)
        most = MAX_RATIO * (block.end - block.content)
        if stride < 1 or not of.first <= first or (of.end - first - 1) // stride >= most:
            raise DataFileError(
                f"{self._file.source}: is damaged: data of frames from {first:,} on, every "
                f"{stride:,}, in the frame set from {of.first:,} to {of.end - 1:,}"
            )
        return block._replace(first=first, stride=stride, place=place)

    def write(self, frame_set: FrameSet, target: IO[bytes]) -> None:
        """Write a file of one frame set, whose first frame with positions has the number 0."""
        shift, count = frame_set.with_positions[0], frame_set.end - frame_set.with_positions[0]
        start = bytearray(self._read(0, self._start))
        first = self._block(0)
        at = first.content
        for _ in range(STRINGS):
            at = start.index(b"\0", at) + 1
        struct.pack_into(self._order + "qq", start, at + 17, self._start, self._start)
        start[24 : 24 + HASH] = bytes(HASH)  # none
        target.write(start)
        target.write(self._head(frame_set, shift, count))
        for block in frame_set.blocks:
            if block.place:
                target.write(self._shift(block, frame_set, shift))
            elif block.kind < BOXES or block.first == shift:
                target.write(self._read(block.start, block.end - block.start))

    def _head(self, frame_set: FrameSet, shift: int, count: int) -> bytes:
        block = frame_set.head
        data = bytearray(self._read(block.start, block.end - block.start))
        at = block.content - block.start
        data[24 : 24 + HASH] = bytes(HASH)
        struct.pack_into(self._order + "qq", data, at, 0, count)
        version = struct.unpack_from(self._order + "Q", data, at - 8)[0]
        end = len(data)
        if version >= 3:  # with times
            end -= 16
            time, step = struct.unpack_from(self._order + "dd", data, end)
            if step > 0.0:
                time += step * (shift - frame_set.first)
            struct.pack_into(self._order + "d", data, end, time)
        struct.pack_into(self._order + f"{LINKS}q", data, end - 8 * LINKS, *[-1] * LINKS)
        return bytes(data)

    def _shift(self, block: DataBlock, of: FrameSet, shift: int) -> bytes:
        data = bytearray(self._read(block.start, block.end - block.start))
        first = block.first - shift
        if first < 0 and block.kind == BOXES and len(of.frames(block)) == 1:
            first = 0  # the last box before the positions
        data[24 : 24 + HASH] = bytes(HASH)
        place = block.content - block.start + block.place
        struct.pack_into(self._order + "q", data, place, first)
        return bytes(data)
