"""Feed: the latest state of a simulation as a scene."""

from collections.abc import Iterator, Mapping, Sequence
from threading import Event
from time import sleep
from typing import Any

from raytracer.config.errors import ClosedError, quote
from raytracer.config.inferred import name_set
from raytracer.in_situ.state_channel import State, StateReader
from raytracer.model.annotations import Annotations, SimulationBox
from raytracer.model.background import Background
from raytracer.model.particle_source import Particles
from raytracer.model.scene import Scene
from raytracer.model.settings import RenderSettings
from raytracer.model.sphere_set import SphereSet
from raytracer.trajectory.source import LiveSource

TITLE = "simulation"  # title of the scenes

NAMES = {"centers": "positions", "radius": "radii", "color": "colors"}
"""Names of the arrays of a set by its attributes."""

COLUMN = "."  # start of the names of arrays that are columns
WAIT = 0.02  # seconds between two looks for the first state
STEP_WAIT = 0.05  # seconds without another set after which the first step is taken to be complete


class Feed(LiveSource):
    """The states that a reader takes, as scenes. Several threads may use it."""

    name = TITLE

    def __init__(self, reader: StateReader) -> None:
        self._reader, self.closed, self._is_first = reader, False, True
        self.on_change = lambda: None
        reader.on_change = lambda: self.on_change()

    def close(self) -> None:
        """End the views, from any thread."""
        self.closed = True
        self.on_change()

    def has_newer(self) -> bool:
        return self._reader.has_newer

    def load(self, frame: int, columns: Sequence[str] = ()) -> Scene:
        """Return the latest state; before the first one, wait for that, with all of its sets.
        Raises ClosedError: the simulation ended before; UserError: its arrays make no spheres."""
        while not self._reader.number:
            if self.closed:
                raise ClosedError("the simulation ended before it logged any points")
            sleep(WAIT)
        state, count = self._reader.take(), 0
        while self._is_first and len(state.sets) > count:
            count = len(state.sets)
            sleep(STEP_WAIT)
            state = self._reader.take()
        self._is_first = False
        return make_scene(state)

    def iterate_scenes(self) -> Iterator[Scene]:
        """Yield the scenes of all states until the end; the simulation waits until one is taken
        before it publishes the next."""
        changed = Event()
        self.on_change = changed.set
        while True:
            changed.clear()
            closed = self.closed  # before the look: the last state is published before
            if self.has_newer():
                yield make_scene(self._reader.take())
            elif closed:
                return
            else:
                changed.wait()


def make_scene(state: State) -> Scene:
    """Return the scene of a state, which uses its arrays. Raises UserError."""
    sets = [
        _make_set(name, *given, state.about)
        for name, given in state.sets.items()
        if len(given[0]["positions"])
    ]
    boxed = Annotations(box=SimulationBox()) if "box" in state.about else None
    return Scene(
        tuple(sets), render=RenderSettings.of_particles(), background=Background.of_particles(),
        title=TITLE, annotations=boxed,
    )  # fmt: skip


def _make_set(
    name: str, arrays: Mapping[str, Any], values: Mapping[str, Any], about: Mapping[str, Any]
) -> SphereSet:
    given = {**arrays, **values}
    particles = Particles(
        f"log_points '{quote(name)}'", given["positions"], given.get("radii"), given.get("colors"),
        names=NAMES,
        box=about.get("box"), time=about.get("time"),
        extra={key[1:]: value for key, value in given.items() if key.startswith(COLUMN)},
    )  # fmt: skip
    with name_set(name):
        return SphereSet.of_particles(particles)
