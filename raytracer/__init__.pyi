"""Public names, for type checkers; `__init__.py` imports each of them on first use."""

from typing import Any

from raytracer._version import __version__ as __version__
from raytracer.animation.animate import Animation as Animation
from raytracer.animation.animate import animate as animate
from raytracer.appearance.coloring.scale import ColorScale as ColorScale
from raytracer.appearance.columns import Columns as Columns
from raytracer.appearance.glyphs.settings import Arrows as Arrows
from raytracer.appearance.glyphs.settings import Contacts as Contacts
from raytracer.appearance.glyphs.settings import Isosurface as Isosurface
from raytracer.appearance.glyphs.settings import Polyhedra as Polyhedra
from raytracer.appearance.glyphs.settings import Ribbons as Ribbons
from raytracer.appearance.glyphs.settings import Shape as Shape
from raytracer.appearance.glyphs.settings import Trails as Trails
from raytracer.backends.select import devices as devices
from raytracer.benchmark.compare import compare_records as compare_records
from raytracer.benchmark.compare import format_comparison as format_comparison
from raytracer.benchmark.occupancy import explain_record as explain_record
from raytracer.benchmark.plot import plot_comparison as plot_comparison
from raytracer.benchmark.plot import plot_record as plot_record
from raytracer.benchmark.report import format_record as format_record
from raytracer.benchmark.run import bench as bench
from raytracer.browser.serve import serve as serve
from raytracer.browser.serve import show as show
from raytracer.config.errors import RaytracerError as RaytracerError
from raytracer.config.errors import UserError as UserError
from raytracer.config.tone_settings import ToneSettings as ToneSettings
from raytracer.config.warning import RaytracerWarning as RaytracerWarning
from raytracer.exporting.export import export as export
from raytracer.film.film import Film as Film
from raytracer.film.image import Image as Image
from raytracer.film.statistics import Statistics as Statistics
from raytracer.in_situ.live_view import LiveView as LiveView
from raytracer.in_situ.live_view import live as live
from raytracer.model.animation import AnimationSettings as AnimationSettings
from raytracer.model.animation import Keyframe as Keyframe
from raytracer.model.annotations import Annotations as Annotations
from raytracer.model.annotations import Axes as Axes
from raytracer.model.annotations import DepthCue as DepthCue
from raytracer.model.annotations import Labels as Labels
from raytracer.model.annotations import Legend as Legend
from raytracer.model.annotations import Outline as Outline
from raytracer.model.annotations import ScaleBar as ScaleBar
from raytracer.model.annotations import SimulationBox as SimulationBox
from raytracer.model.annotations import TextLabel as TextLabel
from raytracer.model.background import Background as Background
from raytracer.model.background import Ground as Ground
from raytracer.model.camera import Camera as Camera
from raytracer.model.clip import Clip as Clip
from raytracer.model.environment import Environment as Environment
from raytracer.model.lights import Ambient as Ambient
from raytracer.model.lights import DirectionalLight as DirectionalLight
from raytracer.model.lights import DiskLight as DiskLight
from raytracer.model.lights import Light as Light
from raytracer.model.lights import PointLight as PointLight
from raytracer.model.lights import RectangleLight as RectangleLight
from raytracer.model.materials import Material as Material
from raytracer.model.materials import Principled as Principled
from raytracer.model.mesh import Mesh as Mesh
from raytracer.model.scene import Scene as Scene
from raytracer.model.settings import RenderSettings as RenderSettings
from raytracer.model.solids import CapsuleSet as CapsuleSet
from raytracer.model.solids import ConeSet as ConeSet
from raytracer.model.solids import EllipsoidSet as EllipsoidSet
from raytracer.model.sphere_set import SphereSet as SphereSet
from raytracer.model.transform import Transform as Transform
from raytracer.particles.plugins import ParticleFormat as ParticleFormat
from raytracer.particles.plugins import ParticleFrame as ParticleFrame
from raytracer.rendering.live_scene import LiveScene as LiveScene
from raytracer.rendering.measurements import Measurements as Measurements
from raytracer.rendering.measurements import measure as measure
from raytracer.rendering.pipeline import render as render
from raytracer.scene_files.load import load as load
from raytracer.system.device_array import DeviceArray as DeviceArray
from raytracer.viewer.preview import PreviewResult as PreviewResult
from raytracer.viewer.preview import preview as preview

__all__: list[str]
_core: Any
"""The compiled extension."""
