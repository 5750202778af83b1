"""The view of a packed scene: what its methods change, and that nobody else changes a frame."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import Film, Scene, SphereSet, pipeline
from raytracer.scene.packing.pack import pack
from raytracer.settings import RenderSettings
from raytracer.view import View, frame_of

SETTINGS = RenderSettings(width=40, height=20, samples=3, filter="tent")


def view() -> View:
    return pack(Scene(spheres=(SphereSet([[0.0, 0.0, 0.0]], 1.0),)), SETTINGS).view


def test_each_method_changes_its_own_fields_alone() -> None:
    made = view()
    changed = {
        "x0 y0 x1 y1": made.with_crop((1, 2, 30, 10)),
        "width height x1 y1": made.with_size(80, 60),
        "sample_begin sample_count": made.with_samples(7, 9),
        "filter": made.through_centers(),
        "filter filter_radius": made.with_filter("gaussian", 2.0),
        "max_depth": made.with_depth(9),
        "shadows": made.with_shadows(False),
        "light_count ambient": made.with_lights(made.lights[:0], 1.0),
    }
    for names, other in changed.items():
        assert differing(made.frame, other.frame) == set(names.split())
    assert changed["width height x1 y1"].crop == (0, 0, 80, 60)


def differing(one: NDArray[np.void], other: NDArray[np.void]) -> set[str]:
    """Names of the fields of two structs that differ, at any depth."""
    names = set()
    for name in one.dtype.names or ():
        if one.dtype[name].names:
            names |= differing(one[name], other[name])
        elif (one[name] != other[name]).any():
            names.add(name)
    return names


def test_a_view_cannot_be_written_to() -> None:
    for frame in (view().frame, view().with_samples(0, 1).frame, frame_of(width=1)):
        with pytest.raises(ValueError, match="read-only"):
            frame["film"]["width"] = 2


def test_two_views_of_one_scene_do_not_disturb_each_other() -> None:
    """A scene on a device holds nothing of a view."""
    scene = Scene(spheres=(SphereSet([[0.0, 0.0, 0.0]], 1.0),))
    with pipeline.prepare(scene, {"width": 40, "height": 20, "samples": 2}, backend="cpu") as job:
        camera = job.view.camera.copy()
        camera["origin"] -= camera["forward"]
        views = job.view, job.view.with_camera(camera)
        films = [Film.blank(40, 20) for _ in range(3)]
        for film, each in zip(films, (*views, views[0]), strict=True):
            job.film(film).add(job.scene, each, 2)
    np.testing.assert_array_equal(films[0].sums, films[2].sums)
    assert (films[0].sums != films[1].sums).any()


def test_fields_are_packed_where_the_struct_has_them() -> None:
    frame = frame_of(width=7, x1=5, sample_count=3, seed=2**32 - 1, filter_radius=1.5, ambient=0.25)
    whole = frame_of(background_top=(0.5, 1.0, 2.0), background_up=np.array([0.0, 1.0, 0.0]))
    film, sampler = frame["film"][0], frame["sampler"][0]
    assert film["width"] == 7
    assert film["x1"] == 5
    assert sampler["sample_count"] == 3
    assert sampler["seed"] == 2**32 - 1
    assert sampler["filter_radius"] == 1.5
    assert frame["environment"]["ambient"].tolist() == [[0.25] * 3]
    assert whole["environment"]["background_top"].tolist() == [[0.5, 1.0, 2.0]]
    assert whole["environment"]["background_up"].tolist() == [[0.0, 1.0, 0.0]]
