"""What changes light, materials, background and tone; every method is a control's."""

from __future__ import annotations

from dataclasses import replace

from raytracer.film.tone_settings import CURVES, MAX_STOPS
from raytracer.viewer import edits
from raytracer.viewer.orders import Metered
from raytracer.viewer.seen import Seen


class LookActions(Seen):
    """Changes how the scene looks."""

    _steps: float | None = None  # stops to be added to a metered exposure; None if nobody asked

    def turn_light(self, right: float, up: float) -> None:
        """Turn the first light about the pivot, in radians."""
        axes, buffers = self.view.stand.axes, self.stage.buffers
        lights = edits.lights_of(self.stage.scene, self.edits, axes)
        if not lights:
            self.notify("the scene has no light to turn")
            return
        pivot = self.view.pivot * buffers.scale + buffers.center
        first = edits.turned(lights[0], axes, right, up, pivot)
        self._edit(replace(self.edits, lights=(first, *lights[1:])))

    def light_from_viewer(self) -> None:
        """One light from the viewer's upper left, which stays where it is then."""
        self._edit(replace(self.edits, lights=(edits.from_viewer(self.view.stand.axes),)))
        self.notify("light from the viewer")

    def next_background(self) -> None:
        """The next background."""
        self._edit(self.edits.next_background())
        self.notify(f"background: {edits.BACKGROUND_NAMES[self.edits.background]}")

    def polish(self, factor: float) -> None:
        """Make the picked sphere's material shinier, or all."""
        materials, ids = self.stage.buffers.materials, self.stage.buffers.material_id
        every, of = list(range(len(materials))), ""
        if self.picked is not None and len(ids):
            named = self.picked.material_name in self.stage.scene.materials
            of = f" of {self.picked.material_name}" if named else " of its material"
            every = [int(ids[self.picked.id])]
        self._edit(self.edits.polished(materials, every, factor))
        shown = self.edits.polish(materials)["phong"]["shininess"][every[0]]
        self.notify(f"shininess{of} {shown:.3g}")

    def expose(self, stops: float) -> None:
        """Make the picture brighter; beginning with what an automatic exposure is."""
        if not self.tone.automatic:
            self._expose(round((float(self.tone.exposure) + stops) * 3) / 3)
        elif self._steps is None:
            self._steps = stops
            self.worker.meter()
        else:
            self._steps += stops

    def _expose(self, exposure: float) -> None:
        self._retone(exposure=min(max(exposure, -MAX_STOPS), MAX_STOPS))
        self.notify(f"exposure {self.tone.exposure:+.2f}")

    def metered(self, found: Metered) -> None:
        """Take what the automatic exposure is."""
        steps, self._steps = self._steps, None
        if self.tone.automatic and steps:
            self._expose(round(found.stops + steps, 2))
        elif self.tone.automatic:
            self.notify(f"automatic exposure, {found.stops:+.2f} stops now")

    def toggle_automatic(self) -> None:
        """Meter the exposure, or not."""
        self._retone(exposure=0.0 if self.tone.automatic else "auto")
        if self.tone.automatic:
            self._steps = 0.0
            self.worker.meter()
        else:
            self.notify("exposure as rendered")

    def next_curve(self) -> None:
        """The next tone curve."""
        self._retone(tone=CURVES[(CURVES.index(self.tone.tone) + 1) % len(CURVES)])
        self.notify(f"tone {self.tone.tone}")
