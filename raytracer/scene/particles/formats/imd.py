"""Configurations of IMD (.imd) in text: a table whose header lines begin with `#`."""

from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.formats import csv
from raytracer.scene.particles.source import Box


class Source(csv.Source):
    @property
    def box(self) -> Box | None:
        """The vectors of the lines X, Y and Z of the header."""
        lines = {line[1:2]: line.split()[1:4] for line in self.file.lines(self.table.skip)}
        try:
            return cell_box([[float(word) for word in lines[axis]] for axis in "XYZ"])
        except (KeyError, ValueError):
            return None
