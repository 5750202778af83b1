"""Chooses the workers of a call: of this machine, or of a cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from raytracer.arguments import as_text, whole
from raytracer.errors import UserError, shown_value

if TYPE_CHECKING:
    from raytracer.farm.crew import Crew

ADDRESS = re.compile(r"(tcp|tls|wss?)://([\w.-]+|\[[0-9a-fA-F:.%\w]+\]):[0-9]{1,5}(/\S*)?")
"""The address of a scheduler: host and port."""

MAX_WORKERS = 1024  # maximum number of workers of one machine


def check_crew(workers: int | None, farm: str | None) -> None:
    """Check the arguments of `crew_of`. Raises UserError."""
    if workers is not None:
        whole(workers, "workers", 1, MAX_WORKERS, UserError)
    if farm is None:
        return
    if workers is not None:
        raise UserError("give either workers (of this machine) or farm (a cluster), not both")
    if not isinstance(farm, str) or not ADDRESS.fullmatch(farm):
        raise UserError(
            f"farm: {shown_value(farm)} is not the address of a Dask scheduler, as "
            "tcp://node17:8786, which it prints when it starts"
        )


def crew_of(workers: int | None, farm: str | None, backend: str, threads: int) -> Crew:
    """Return workers of this machine, or of a Dask cluster, by arguments that are checked.

    Args:
        workers: number of processes of this machine, or None.
        farm: address of the scheduler, or None.
        backend: by name; several GPUs of this machine are assigned to local workers in turn.
        threads: total of all local workers; 0 uses every core that the process may use.
    Raises:
        UserError: there are no such workers.
    """
    if farm is None:
        from raytracer.farm.local import LocalCrew, places

        each = "cuda" if backend == "cuda:all" or "," in backend else backend
        return LocalCrew(places(int(workers or 1), backend, threads), each)
    from raytracer.farm.cluster import ClusterCrew

    return ClusterCrew(as_text(farm), backend)
