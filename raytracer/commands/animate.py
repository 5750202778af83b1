"""`raytracer animate`; only the options are imported with the module, so that help is fast."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from raytracer.commands import options
from raytracer.commands.report import file_size, print_json, print_lines, print_warning
from raytracer.errors import counted, escaped
from raytracer.progress import ProgressBar
from raytracer.warning import passed_to

if TYPE_CHECKING:
    from raytracer.animation.animate import Animation


@click.command(
    cls=options.SettingsCommand,
    settings=(
        options.file_options, options.animation_options, options.view_options,
        options.motion_options, options.style_options, options.render_options,
        options.tone_options, options.annotation_options,
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
@options.backend_option
@options.threads_option
@click.option("--part", metavar="K/N",
              help="Render every N-th frame alone, from the K-th on; a run without it joins them."
              )  # fmt: skip
@click.option("--resume/--fresh", default=True, show_default=True,
              help="Use the finished frames of an interrupted run.")  # fmt: skip
@options.json_option
@options.quiet_option
@options.progress_option
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
    from raytracer.commands.picture import free_path, stem_of

    start = time.perf_counter()
    quiet, as_json = given["quiet"], given["as_json"]
    warnings: list[str] = []

    def tell(sentence: str) -> None:
        if sentence not in warnings:
            warnings.append(sentence)
            if not (quiet or as_json):
                print_warning(escaped(sentence))

    with passed_to(tell):
        animation = animation_of(
            options.scene_paths(scenes), tone=given["tone"], backend=given["backend"],
            threads=given["threads"], annotations=given["annotations"], **given["settings"],
        )  # fmt: skip
    target = Path(given["output"]) if given["output"] else free_path(stem_of(scenes[0]), ".mp4")
    with passed_to(tell), ProgressBar(show=False if quiet else given["progress"]) as bar:
        try:
            animation.save(target, resume=given["resume"], part=given["part"], progress=bar.frames)
        except BaseException:
            bar.__exit__()
            if animation.seconds and not quiet:
                _tell_of_rest(target)
            raise
    if as_json or not quiet:
        _report(animation, target, given, warnings, time.perf_counter() - start)


def _tell_of_rest(target: Path) -> None:
    folder = target.with_name(f"{target.name}.frames")
    if count := sum(each.suffix == ".npz" for each in folder.glob("*")):
        print(
            f"raytracer: {counted(count, 'finished frame')} in {escaped(str(folder))}: the same "
            "command continues from there",
            file=sys.stderr,
        )


def _report(
    animation: Animation, target: Path, given: dict[str, Any], warnings: list[str], seconds: float
) -> None:
    rendered, fps, part = animation.seconds, animation.settings.fps, given["part"]
    if given["as_json"]:
        print_json({
            "output": str(target),
            "part": part,
            "frames": len(animation),
            "rendered": len(rendered),
            "duration": animation.duration,
            "fps": fps,
            "timings": {"render": sum(rendered), "total": seconds},
            "warnings": warnings,
        })  # fmt: skip
        return
    spent = f"in {seconds:.1f} s, {sum(rendered):.1f} s of it rendering"
    if part:
        print_lines(f"{target}: rendered {counted(len(rendered), 'frame')} of part {part}, {spent}")
        return
    size = f"{file_size(target)}, " if target.is_file() else ""
    again = len(animation) - len(rendered)
    kept = f", {again} of them from an earlier run" if again else ""
    print_lines(
        f"wrote {target}: {size}{counted(len(animation), 'frame')}{kept}, "
        f"{animation.duration:.3g} s at {fps:g} frames/s, {spent}"
    )
