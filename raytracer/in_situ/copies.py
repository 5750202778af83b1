"""Copies of arrays on a GPU that a simulation shares, in memory that is used again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from weakref import ref

from raytracer.cuda_driver import DeviceMemory, DeviceStream, device_context
from raytracer.device_array import DeviceArray
from raytracer.in_situ.gpu_memory import GpuMemory, MappedMemory


class Copies:
    """Copies of the arrays of states, which stay as they are when the simulation goes on.

    The memory of a copy is used again when nothing holds the copy any more; about four are in use.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], list[tuple[DeviceMemory, ref[DeviceArray]]]] = {}
        self._streams: dict[int, DeviceStream] = {}

    def of(self, name: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Return copies of the arrays of a set; those of a GPU are complete."""
        copies = {
            key: self._copy((name, key), array) if isinstance(array, DeviceArray) else array.copy()
            for key, array in arrays.items()
        }
        for stream in self._streams.values():
            stream.synchronize()
        return copies

    def _copy(self, name: tuple[str, str], array: DeviceArray) -> DeviceArray:
        """Queue a copy; name: of the set, and of the array in it."""
        shared, made = array.owner, self._made.get(name, [])
        assert isinstance(shared, (GpuMemory, MappedMemory))
        device, size = shared.device, array.nbytes
        if device not in self._streams:
            self._streams[device] = DeviceStream(device)
        stream = self._streams[device].handle
        held = [each for each in made if each[1]() is not None]
        free = [memory for memory, copy in made if copy() is None]
        fits = [each for each in free if (each.device, each.size) == (device, size)]
        memory = fits[0] if fits else DeviceMemory(size, device)
        with device_context(device):
            shared.complete.wait(stream)
        address = array.copy_to(memory.address, stream, device)
        copied = replace(array, address=address, device=device, stream=None, owner=memory)
        others = [each for each in made if each[0] in fits[1:]]
        self._made[name] = [*held, *others, (memory, ref(copied))]
        return copied
