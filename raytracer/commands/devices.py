"""`raytracer devices`."""

from __future__ import annotations

import click

from raytracer.resources import require_start


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def devices(as_json: bool) -> None:
    """List the backends: the device of each, or what is missing and how to get it.

    \b
    Examples:
      raytracer devices
      raytracer devices --json
    """
    require_start()
    from raytracer.backends.select import devices as find
    from raytracer.commands.report import print_json, print_outline

    entries = find()
    if as_json:
        print_json(entries)
        return
    for entry in entries:
        state = "ready" if entry["available"] else "not usable here"
        print(f"{entry['backend']:<5} {state}")
        if entry["reason"]:
            print(f"      {entry['reason']}")
        print_outline(entry["details"], "      ")
