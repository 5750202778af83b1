"""`raytracer devices`."""

from __future__ import annotations

import click

from raytracer.resources import require_start


@click.command(short_help="Show what can render here, and what is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def devices(as_json: bool) -> None:
    """Show the backends: what they run on, or what is missing and how to get it.

    \b
    Examples:
      raytracer devices
      raytracer devices --json
    """
    require_start()
    from raytracer.backends.select import devices as find
    from raytracer.commands.report import print_json, print_outline

    found = find()
    if as_json:
        print_json(found)
        return
    for entry in found:
        state = "ready" if entry["available"] else "not usable here"
        print(f"{entry['backend']:<5} {state}")
        if entry["reason"]:
            print(f"      {entry['reason']}")
        print_outline(entry["details"], "      ")
