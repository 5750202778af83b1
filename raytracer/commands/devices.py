"""`raytracer devices`."""

import click

from raytracer.commands.options import json_option
from raytracer.commands.report import print_json, print_outline


@click.command()
@json_option
def devices(as_json: bool) -> None:
    """List the backends: the device of each, or what is missing and how to get it.

    \b
    Examples:
      raytracer devices
      raytracer devices --json
    """
    from raytracer.backends.select import devices as find

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
