"""Point clouds: LAS, LAZ and E57 of laser scanners, PCD, and PLY; each read by its own library."""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import pluralize, quote
from raytracer.particles.array_source import ArraySource, import_library
from raytracer.system.memory import require_room

POINT_MEMORY = 120  # bytes of memory per point while laspy or pye57 reads a file
LAS_HEAD = 247  # bytes of the header up to the number of extended records, which LAS 1.4 has
LAS_COLORS = ("red", "green", "blue")
E57_COLORS = ("colorRed", "colorGreen", "colorBlue")

Columns = dict[str, NDArray[Any]]


class Source(ArraySource):
    """A point cloud; the variant is the ending of its format."""

    noun = "field"
    memory = 8

    def read(self) -> Columns:
        readers = {".las": self._las, ".e57": self._e57, ".pcd": self._pcd, ".ply": self._ply}
        return readers[self.variant]()

    def _las(self) -> Columns:
        """Return positions, colours and all dimensions of the points."""
        laspy = import_library("laspy", self.name, "las")
        self._require_records()
        self.file.file.seek(0)
        with laspy.open(self.file.file, closefd=False) as reader:
            header, count = reader.header, int(reader.header.point_count)
        if not header.are_points_compressed and count * header.point_format.size > self.file.size:
            raise self.error("is incomplete")
        require_room(self.name, POINT_MEMORY * count)
        points = laspy.read(self.file.name)
        if len(points.points) != count:
            raise self.error("is incomplete")
        columns = {"position": np.stack([np.asarray(points[axis]) for axis in "xyz"], axis=1)}
        names = list(points.point_format.dimension_names)
        if all(name in names for name in LAS_COLORS):
            color = np.stack([np.asarray(points[name]) for name in LAS_COLORS], axis=1)
            # Some programs write 8 bits into the 16 of the format.
            is_wide = len(color) and color.max() > 255
            columns["color"] = (color >> 8 if is_wide else color).astype(np.uint8)
        left_out = ("X", "Y", "Z", *LAS_COLORS)
        return columns | {name: np.array(points[name]) for name in names if name not in left_out}

    def _require_records(self) -> None:
        """Refuse a file that states more records than it has: laspy would allocate all of them."""
        self.file.file.seek(0)
        head = self.file.file.read(LAS_HEAD).ljust(LAS_HEAD, b"\0")
        (few,) = struct.unpack_from("<I", head, 100)
        many = struct.unpack_from("<I", head, 243)[0] if head[24:26] >= b"\1\4" else 0
        if 54 * few + 60 * many > self.file.size:
            raise self.error(
                f"is damaged: its header states {few + many:,} records, too many for its "
                f"{self.file.size:,} bytes"
            )

    def _e57(self) -> Columns:
        """Return the points of all scans, each moved by its pose."""
        scans = import_library("pye57", self.name, "e57").E57(self.file.name)
        counts = [scans.get_header(each).point_count for each in range(scans.scan_count)]
        if not counts:
            raise self.error("has no scans")
        require_room(self.name, POINT_MEMORY * sum(counts))
        parts = [
            scans.read_scan(each, intensity=True, colors=True, ignore_missing_fields=True)
            for each in range(len(counts))
        ]
        scans.close()
        common = [name for name in parts[0] if all(name in part for part in parts)]
        arrays = {name: np.concatenate([part[name] for part in parts]) for name in common}
        axes = [arrays.pop(f"cartesian{axis}") for axis in "XYZ"]
        columns = {"position": np.stack(axes, axis=1)}
        if set(E57_COLORS) <= set(arrays):
            columns["color"] = np.stack([arrays.pop(name) for name in E57_COLORS], axis=1)
        if len(parts) > 1:
            lengths = [len(part["cartesianX"]) for part in parts]
            columns["scan"] = np.repeat(np.arange(len(parts)), lengths)
        return columns | arrays

    def _pcd(self) -> Columns:
        """Return the fields of a cloud of PCL; packed colours as three numbers."""
        cloud = import_library("pypcd4", self.name, "pcd").PointCloud.from_fileobj(self.stream())
        if len(cloud.pc_data) < cloud.points:
            raise self.error(
                f"is incomplete: it states {cloud.points:,} points, but has {len(cloud.pc_data):,}"
            )
        names = [name for name in cloud.fields if not name.startswith("_")]
        columns = {name: np.ascontiguousarray(cloud.pc_data[name]) for name in names}
        if (packed := columns.get("rgb", columns.get("rgba"))) is not None and packed.ndim == 1:
            columns = {name: each for name, each in columns.items() if name not in ("rgb", "rgba")}
            words = packed.view(np.uint32) if packed.dtype.itemsize == 4 else packed.astype("u4")
            columns["rgb"] = np.stack([words >> 16, words >> 8, words], axis=1).astype(np.uint8)
        finite = np.isfinite([columns[axis] for axis in "xyz" if axis in columns]).all(axis=0)
        if not np.all(finite):  # an organised cloud has NaN where nothing was measured
            columns = {name: each[finite] for name, each in columns.items()}
        return columns

    def _ply(self) -> Columns:
        """Return the properties of the vertices."""
        plyfile = import_library("plyfile", self.name, "ply")
        parts = {each.name: each for each in plyfile.PlyData.read(self.stream(), mmap=False)}
        if "vertex" not in parts:
            raise self.error("there is no element 'vertex'")
        if faces := parts["face"].count if "face" in parts else 0:
            self.note(
                "the vertices are shown as particles; to show the mesh of "
                f"{pluralize(faces, 'face')}, give --mesh {quote(self.file.path.name)}"
            )
        rows = parts["vertex"].data
        native = rows.astype(rows.dtype.newbyteorder("="), copy=False)
        return {name: native[name] for name in native.dtype.names if native[name].dtype != object}
