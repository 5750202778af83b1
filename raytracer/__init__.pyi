"""Public names, for type checkers; `__init__.py` imports each of them on first use."""

from typing import Any

from raytracer._version import __version__ as __version__
from raytracer.animation.animate import Animation as Animation
from raytracer.animation.animate import animate as animate
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
from raytracer.device_array import DeviceArray as DeviceArray
from raytracer.errors import RaytracerError as RaytracerError
from raytracer.errors import UserError as UserError
from raytracer.exporting.export import export as export
from raytracer.film.film import Film as Film
from raytracer.film.image import Image as Image
from raytracer.film.statistics import Statistics as Statistics
from raytracer.film.tone_settings import ToneSettings as ToneSettings
from raytracer.in_situ.live_view import LiveView as LiveView
from raytracer.in_situ.live_view import live as live
from raytracer.live_scene import LiveScene as LiveScene
from raytracer.measurements import Measurements as Measurements
from raytracer.measurements import measure as measure
from raytracer.pipeline import render as render
from raytracer.scene.animation import AnimationSettings as AnimationSettings
from raytracer.scene.animation import Keyframe as Keyframe
from raytracer.scene.annotations import Annotations as Annotations
from raytracer.scene.annotations import Axes as Axes
from raytracer.scene.annotations import DepthCue as DepthCue
from raytracer.scene.annotations import Labels as Labels
from raytracer.scene.annotations import Legend as Legend
from raytracer.scene.annotations import Outline as Outline
from raytracer.scene.annotations import ScaleBar as ScaleBar
from raytracer.scene.annotations import SimulationBox as SimulationBox
from raytracer.scene.annotations import TextLabel as TextLabel
from raytracer.scene.background import Background as Background
from raytracer.scene.background import Ground as Ground
from raytracer.scene.camera import Camera as Camera
from raytracer.scene.clip import Clip as Clip
from raytracer.scene.coloring.scale import ColorScale as ColorScale
from raytracer.scene.columns import Columns as Columns
from raytracer.scene.environment import Environment as Environment
from raytracer.scene.glyphs.settings import Arrows as Arrows
from raytracer.scene.glyphs.settings import Contacts as Contacts
from raytracer.scene.glyphs.settings import Isosurface as Isosurface
from raytracer.scene.glyphs.settings import Polyhedra as Polyhedra
from raytracer.scene.glyphs.settings import Ribbons as Ribbons
from raytracer.scene.glyphs.settings import Shape as Shape
from raytracer.scene.glyphs.settings import Trails as Trails
from raytracer.scene.lights import Ambient as Ambient
from raytracer.scene.lights import DirectionalLight as DirectionalLight
from raytracer.scene.lights import DiskLight as DiskLight
from raytracer.scene.lights import Light as Light
from raytracer.scene.lights import PointLight as PointLight
from raytracer.scene.lights import RectangleLight as RectangleLight
from raytracer.scene.load import load as load
from raytracer.scene.materials import Material as Material
from raytracer.scene.materials import Principled as Principled
from raytracer.scene.mesh import Mesh as Mesh
from raytracer.scene.particles.plugins import ParticleFormat as ParticleFormat
from raytracer.scene.particles.plugins import ParticleFrame as ParticleFrame
from raytracer.scene.scene import Scene as Scene
from raytracer.scene.solids import CapsuleSet as CapsuleSet
from raytracer.scene.solids import ConeSet as ConeSet
from raytracer.scene.solids import EllipsoidSet as EllipsoidSet
from raytracer.scene.sphere_set import SphereSet as SphereSet
from raytracer.scene.transform import Transform as Transform
from raytracer.settings import RenderSettings as RenderSettings
from raytracer.viewer.preview import PreviewResult as PreviewResult
from raytracer.viewer.preview import preview as preview
from raytracer.warning import RaytracerWarning as RaytracerWarning

__all__: list[str]
_core: Any
"""The compiled extension."""
