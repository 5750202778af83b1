"""Tables in HDF5 that are not a group of arrays: compound types (h5py, PyTables, Picasso), data
frames of pandas, and MATLAB 7.3. Read by h5py."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.files.access import OpenFile
from raytracer.particles.hdf5_members import MAX_OBJECTS, is_group, list_members, read_values
from raytracer.particles.nested import NestedSource
from raytracer.system.memory import require_room

MAX_DEPTH = 6  # most levels of nested groups that are read


def contains_tables(group: Any, depth: int) -> bool:
    """Whether a group of h5py has tables, or variables of MATLAB."""
    for name, each in list_members(group).items():
        if is_group(each):
            if depth and contains_tables(each, depth - 1):
                return True
        elif each.dtype.names or name.endswith("_items") or "MATLAB_class" in each.attrs:
            return True
    return False


class Source(NestedSource):
    """An HDF5 file; `group` of h5py is where to look for tables."""

    noun = "dataset"

    def __init__(self, file: OpenFile, variant: str, group: Any) -> None:
        super().__init__(file, variant)
        self.group = group

    def read(self) -> dict[str, NDArray[Any]]:
        require_room(self.name, 2 * _count_bytes(self.group, MAX_DEPTH))
        return self.find_columns(self._values(self.group, MAX_DEPTH))

    def _values(self, value: Any, depth: int) -> Any:
        """Return the datasets of a group by name, and the columns of a data frame."""
        if not is_group(value):
            values = read_values(value)
            if "MATLAB_class" in value.attrs and values.ndim == 2 and (
                values.shape[1] != 3 or values.shape[0] == 3
            ):  # fmt: skip
                values = values.T  # MATLAB stores columns first
            return values
        there = list(list_members(value).items())[:MAX_OBJECTS] if depth else []
        made = dict[str, Any]()
        for name, each in there:
            try:
                made[name] = self._values(each, depth - 1)
            except ValueError as problem:  # another one may have the particles
                self.note(f"is read without a dataset: {problem}")
        for name in [name for name in made if name.endswith("_items")]:
            block = made.get(name.replace("_items", "_values"))
            if isinstance(block, np.ndarray) and block.ndim == 2:
                names = [str(np.char.decode(each)) for each in made[name]]
                made |= dict(zip(names, block.T, strict=False))
        arrays = {name: each for name, each in made.items() if isinstance(each, np.ndarray)}
        words = [np.ravel(each) for each in arrays.values() if each.dtype.kind == "S"]
        for block in [each for each in arrays.values() if each.ndim == 2]:  # as FLASH writes them
            titles = next((each for each in words if len(each) == block.shape[1]), None)
            if titles is not None:
                made |= dict(
                    zip((word.decode().strip() for word in titles.tolist()), block.T, strict=True)
                )
        block = made.get("table")
        if isinstance(block, np.ndarray) and block.dtype.names:  # of PyTables
            made["table"] = _pandas_columns(block, {name: value["table"].attrs.get(f"{name}_kind")
                                          for name in block.dtype.names})  # fmt: skip
        return made


def _count_bytes(value: Any, depth: int) -> int:
    if not is_group(value):
        return int(value.dtype.itemsize * (value.size or 0))
    there = list(list_members(value).values())[:MAX_OBJECTS] if depth else []
    return sum(_count_bytes(each, depth - 1) for each in there)


def _pandas_columns(table: NDArray[Any], kinds: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the columns of a table of pandas, whose fields are blocks of columns of one type;
    `kinds` are the names of the columns of each block, as pandas pickles them."""
    columns: dict[str, NDArray[Any]] = {}
    for field in table.dtype.names or ():
        values = table[field]
        names = _unpickle_names(kinds[field])
        if values.ndim == 2 and len(names) == values.shape[1]:
            columns |= dict(zip(names, values.T, strict=True))
        else:
            columns[field] = values
    return columns


def _unpickle_names(kind: Any) -> list[str]:
    """Return the texts of a pickled list of names, without executing it."""
    import pickletools

    data = kind if isinstance(kind, bytes) else bytes(np.asarray(kind).tobytes())
    try:
        return [str(value) for code, value, _ in pickletools.genops(data)
                if code.name in ("UNICODE", "SHORT_BINUNICODE", "BINUNICODE")]  # fmt: skip
    except ValueError:
        return []
