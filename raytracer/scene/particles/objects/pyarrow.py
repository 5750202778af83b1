"""Tables and record batches of pyarrow: one row per particle."""

from __future__ import annotations

from collections.abc import Mapping

from raytracer.scene.particles.formats.arrow import array_of, column_of
from raytracer.scene.particles.naming import unit
from raytracer.scene.particles.objects.source import Entry, ObjectSource


class Source(ObjectSource):
    def entries(self) -> Mapping[str, Entry]:
        entries: dict[str, Entry] = {}
        for place, field in enumerate(self.value.schema):
            column = column_of(field.type)
            if column is not None:
                values = self.value.column(place)
                entries.setdefault(field.name, Entry(
                    column._replace(unit=unit(field.name)),
                    lambda values=values, column=column: array_of(values, column),  # type: ignore[misc]
                ))  # fmt: skip
        return entries
