"""`raytracer serve`; only the options are imported with the module, so that help is fast."""

import gc
from typing import Any

import click

from raytracer.commands import options
from raytracer.commands.preview import NEW_OBJECTS
from raytracer.commands.report import print_lines
from raytracer.system.progress import StageLine


@click.command(
    cls=options.SettingsCommand,
    settings=options.window_groups,
    common=("frame", "port", "open_browser", "backend", *options.COMMON_OF_VIEWS),
)
@options.scenes_argument
@click.option("--port", type=int, metavar="PORT",
              help="Listen on this port of 127.0.0.1; default: 8765, or a free one.")  # fmt: skip
@click.option("--open", "open_browser", is_flag=True, help="Open the browser of this machine.")
@click.option("--allow-host", multiple=True, metavar="NAME",
              help="Name of the host of a proxy in front of the server, such as hub.example.org; "
              "repeatable.")  # fmt: skip
@options.live_options
def serve(scenes: tuple[str, ...], settings: dict[str, Any], **given: Any) -> None:
    """Show a scene or a particle file in a web browser, here or through an SSH tunnel.

    \b
    Examples:
      raytracer serve trajectory.gsd
      raytracer serve atoms.xyz --open
      raytracer serve scene.toml --port 9000 --allow-host hub.example.org

    The server accepts connections from this machine only, and the address that it prints has a
    secret token. From another machine, run the printed ssh command there and open the address in
    its browser. Behind JupyterHub, Open OnDemand or nginx, name the host of the address in the
    browser with --allow-host. Ctrl-C ends the server.
    """
    from raytracer.browser.serve import serve as serve_scene

    gc.set_threshold(NEW_OBJECTS)
    with StageLine() as line:
        path = options.scene_paths(scenes)
        serve_scene(path, notice=line, say=print_lines, **settings, **given)
