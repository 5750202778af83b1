"""`raytracer bench`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from raytracer.commands.options import SettingsCommand, force_option
from raytracer.system.progress import StageLine

if TYPE_CHECKING:
    from raytracer.benchmark.record import Record

BACKENDS = click.Choice(["auto", "cpu", "cuda"])
FORMS = click.Choice(["table", "markdown", "csv", "json"])
INPUTS = click.Choice(["normal", "uniform", "constant", "sorted", "zeros"])
COMMON = (
    "listed", "variant", "size", "scene", "axis", "dtype", "backend", "hot", "save", "form",
    "with_file", "compare", "plot",
)  # fmt: skip
PATH = click.Path(path_type=Path)


@click.command(cls=SettingsCommand, common=COMMON)
@click.argument("ops", nargs=-1, metavar="[OP ...]")
@click.option("--list", "listed", is_flag=True, help="List operations; of a named OP also ideas.")
@click.option("--variant", multiple=True, help="Variant, by label, name or number; repeatable.")
@click.option("--size", default="", help="Size of the largest axes, such as 4096, 1e6 or 2^20.")
@click.option("--scene", multiple=True, help="Scene of `bench render`, build or live; repeatable.")
@click.option("--axis", multiple=True, metavar="NAME=SIZE", help="Size of one axis; repeatable.")
@click.option("--seed", type=int, help="Of random sizes, --axis NAME=random:COUNT.")
@click.option("--dtype", help="Data type of the operation, as --list names it.")
@click.option("--backend", type=BACKENDS, default="auto", show_default=True, help="Where to run.")
@click.option("--input", type=INPUTS, default="normal", show_default=True, help="Input values.")
@click.option("--min-time", default=0.5, show_default=True, help="Seconds of measurement per row.")
@click.option("--peers/--no-peers", default=True, help="Also time PyTorch.")
@click.option(
    "--hot/--cold",
    help="Back to back, warm cache, not after a flush of the L2 cache (small arrays).",
)
@click.option("--save", type=PATH, metavar="FILE.json", help="Save results.")
@click.option(
    "--format", "form", type=FORMS, default="table", show_default=True, help="Form of the output."
)
@force_option
@click.option("--with", "with_file", type=PATH, metavar="FILE.cu", help="Also time this kernel.")
@click.option(
    "--compare",
    type=PATH,
    nargs=2,
    metavar="A.json B.json",
    help="Compare two saved records: is B faster, slower or the same?",
)
@click.option("--plot", type=PATH, metavar="FILE.png", help="Plot times, and a roofline.")
@click.option("--explain", is_flag=True, help="Say what limits the occupancy of each kernel.")
@click.option("--profile", is_flag=True, help="Launch each variant once, for a profiler.")
def bench(
    ops: tuple[str, ...], listed: bool, profile: bool, axis: tuple[str, ...], save: Path | None,
    form: str, force: bool, hot: bool, compare: tuple[Path, Path] | None, plot: Path | None,
    explain: bool, **options: Any,
) -> None:  # fmt: skip
    """Check and time kernels and parts of the renderer.

    \b
    Examples:
      raytracer bench --list
      raytracer bench vecadd matmul
      raytracer bench matmul --size 1024,4096 --variant 15 --save matmul.json
      raytracer bench matmul --with kernel.cu     your kernel under the same rules
      raytracer bench histogram --input sorted --axis n=2^30
      raytracer bench matmul --axis m=random:20 --axis n=random:20 --seed 3
      raytracer bench contraction --list          ideas of the variants
      raytracer bench render --scene weekend      render kernels
      raytracer bench tone                        statistics and tone mapping of a 4K film
      raytracer bench build --size 1e5,1e6        trees over spheres of several kinds
      raytracer bench live --scene plummer        spheres that move, from positions to picture
      raytracer bench matmul --plot matmul.png    times and a roofline
      raytracer bench matmul.json --plot matmul.png  the same of a saved record
      raytracer bench matmul --explain            what limits the occupancy of each kernel
      raytracer bench --compare old.json new.json
    """
    from raytracer.benchmark import run
    from raytracer.benchmark.benchmark import parse_axes, validated
    from raytracer.benchmark.compare import compare_records, format_comparison
    from raytracer.benchmark.plot import check_plot, plot_comparison
    from raytracer.benchmark.record import read_record
    from raytracer.benchmark.report import format_record
    from raytracer.config.errors import UserError
    from raytracer.files import output

    if (plot or explain) and (listed or profile):
        raise UserError("--plot and --explain need times: leave out --list and --profile")
    if explain and form in ("csv", "json"):
        raise UserError(f"--explain prints sentences, which --format {form} has no place for")
    if plot:
        check_plot(plot)
    if compare:
        _refuse_others("--compare", ("compare", "form", "plot"), ops)
        compared = compare_records(*compare)
        click.echo(format_comparison(compared, form), nl=False)
        if plot:
            plot_comparison(compared, plot)
        return
    if any(name.endswith(".json") for name in ops):
        _refuse_others(f"the record {ops[0]}", ("form", "plot", "explain"), ops[1:])
        show(read_record(ops[0]), form, plot, explain)
        return
    options |= {"axes": parse_axes(axis), "mode": "hot" if hot else "cold"}
    if listed:
        click.echo(run.listing(ops), nl=False)
        return
    if profile:
        for benchmark in run.selected(ops):
            labels = ", ".join(benchmark.profile(validated(options))) or "nothing"
            click.echo(f"{benchmark.name}: launched {labels}")
        return
    if save:
        output.check_file(output.OutputSet(force).declare(save, "--save"))
        if plot:
            both = output.OutputSet()
            both.declare(save, "--save")
            both.declare(plot, "--plot")
    # The command line, with file names in place of absolute paths.
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    command, kept = shlex.join(["raytracer", *words]), 0

    def keep(record: Record) -> None:
        nonlocal kept
        if save:
            output.write(save, format_record(record | {"command": command}, "json"))
            kept = len(record["results"])

    try:
        with StageLine() as line:
            record = run.bench(*ops, progress=line, on_result=keep, **options)
    except BaseException:
        if kept:
            click.echo(f"raytracer: {save} has the {kept} results until then", err=True)
        raise
    record["command"] = command
    show(record, form, plot, explain)


def show(record: Record, form: str, plot: Path | None, explain: bool) -> None:
    """Print a record, the occupancy of its kernels if asked, and plot it if a name is given."""
    from raytracer.benchmark.occupancy import explain_record
    from raytracer.benchmark.plot import plot_record
    from raytracer.benchmark.report import format_record

    click.echo(format_record(record, form), nl=False)
    if explain:
        click.echo(f"\n{explain_record(record)}", nl=False)
    for remark in plot_record(record, plot) if plot else ():
        click.echo(f"raytracer: {remark}", err=True)


def _refuse_others(word: str, taken: Sequence[str], names: Sequence[str]) -> None:
    """Raise UserError if arguments or options were given that a mode, `word`, does not take."""
    from raytracer.config.errors import UserError

    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
        and parameter.name not in taken
        and context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    ]
    if names or given:
        raise UserError(f"{word} runs nothing: leave out {', '.join([*names, *given])}")
