"""Copies of arrays on a GPU, in memory that is used again."""

from __future__ import annotations

from weakref import ref

from raytracer.device_array import DeviceArray, DeviceMemory


class Copies:
    """Copies of the arrays of a set as they were when they were logged.

    The memory of a copy is used again when nothing holds the copy any more; about four are in use:
    one that is made, one that is published, and two that a view reads.
    """

    def __init__(self) -> None:
        self._made: dict[str, list[tuple[DeviceMemory, ref[DeviceArray]]]] = {}

    def copy(self, name: str, array: DeviceArray, stream: int) -> DeviceArray:
        """Return a copy on the same GPU, for the default stream.

        Args:
            name: of the array in its set.
            array: it, on a GPU whose number is known.
            stream: handle of the one on which it is complete, and which waits for the copy.
        """
        made = self._made.get(name, [])
        device, size = array.device or 0, array.nbytes
        held = [each for each in made if each[1]() is not None]
        free = [memory for memory, copy in made if copy() is None]
        fits = [each for each in free if (each.device, each.size) == (device, size)]
        memory = fits[0] if fits else DeviceMemory(size, device)
        copied = array.copied_to(memory, stream)
        others = [each for each in made if each[0] in fits[1:]]
        self._made[name] = [*held, *others, (memory, ref(copied))]
        return copied
