"""`raytracer animate`; only the options are imported with the module, so that help is fast."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from raytracer.commands import options
from raytracer.commands.report import file_size, print_json, print_lines, print_warning
from raytracer.config.errors import escape_controls, pluralize
from raytracer.config.warning import redirect_warnings
from raytracer.system.progress import ProgressBar


@click.command(
    cls=options.SettingsCommand,
    settings=(
        options.file_options, options.animation_options, *options.picture_groups,
        options.motion_options,
    ),
    common=(
        "output", "backend", "frames", "fps", "duration", "turntable", "follow", "view", "up",
        "background", "radius", "color_by", "select", "size", "samples", "look", "legend",
    ),
)  # fmt: skip
@options.scenes_argument
@options.output_option(
    help="The movie: .mp4, .mov, .mkv, .webm, .gif, .webp; or numbered pictures: "
    "'frames/####.png' or .exr; default: NAME.mp4 in the current folder, or NAME-2.mp4 if that "
    "exists."
)
@options.run_options
@click.option("--part", metavar="K/N",
              help="Render every N-th frame alone, from the K-th on; a run without it joins them."
              )  # fmt: skip
@click.option("--resume/--fresh", default=True, show_default=True,
              help="Use the finished frames of an interrupted run.")  # fmt: skip
def animate(scenes: tuple[str, ...], **given: Any) -> None:
    """Render the frames of a trajectory, or a moving camera, to a movie.

    \b
    Examples:
      raytracer animate trajectory.gsd -o movie.mp4
      raytracer animate trajectory.xyz --frames 0:500:5 --fps 25 --turntable 20s
      raytracer animate three_balls --turntable 8s -o turntable.mp4
      raytracer animate "snap_*.h5" --duration 10 --codec h265 -o collapse.mkv
      raytracer animate trajectory.dump --follow center -o drift.webm
      raytracer animate scene.toml -o 'frames/####.png'
      raytracer animate trajectory.gsd --part 3/8 -o movie.mp4

    The camera is fitted once, to all frames. Finished frames are saved beside the movie until it is
    complete: after Ctrl-C or a crash, the same command continues. Keyframes of the camera are set
    in a scene file: [[animation.keyframes]].
    """
    from raytracer.animation.animate import animate as animation_of
    from raytracer.commands.picture import free_path, make_stem

    start = time.perf_counter()
    quiet, as_json = given["quiet"], given["as_json"]
    warnings: list[str] = []

    def tell(sentence: str) -> None:
        if sentence not in warnings:
            warnings.append(sentence)
            if not (quiet or as_json):
                print_warning(escape_controls(sentence))

    with redirect_warnings(tell), ProgressBar(show=False if quiet else given["progress"]) as bar:
        animation = animation_of(
            options.scene_paths(scenes), tone=given["tone"], backend=given["backend"],
            threads=given["threads"], annotations=given["annotations"], **given["settings"],
        )  # fmt: skip
        target = (
            Path(given["output"]) if given["output"] else free_path(make_stem(scenes[0]), ".mp4")
        )
        animation.save(target, resume=given["resume"], part=given["part"], progress=bar.frames)
    seconds, rendered = time.perf_counter() - start, animation.seconds
    if as_json:
        print_json({
            "output": str(target), "part": given["part"], "frames": len(animation),
            "rendered": len(rendered), "duration": animation.duration,
            "fps": animation.settings.fps,
            "timings": {"render": sum(rendered), "total": seconds}, "warnings": warnings,
        })  # fmt: skip
    elif not quiet:
        size = f" {file_size(target)}," if target.is_file() else ""
        what = f"rendered part {given['part']} of" if given["part"] else "wrote"
        print_lines(
            f"{what} {escape_controls(str(target))}:{size} {pluralize(len(animation), 'frame')}, "
            f"{len(rendered)} of them rendered, {animation.duration:.3g} s at "
            f"{animation.settings.fps:g} frames/s, in {seconds:.1f} s"
        )
