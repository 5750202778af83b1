"""Workers of a Dask cluster, reached through its scheduler."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from raytracer.errors import UserError, shown
from raytracer.farm.crew import Crew
from raytracer.farm.shared import Shared

TIMEOUT = 10.0  # seconds in which the scheduler must answer
FIRST_WORKER = 600.0  # seconds in which the first worker must join; jobs may wait in a queue


def _itself(value: Any) -> Any:
    return value


class ClusterCrew(Crew):
    """Workers of a Dask cluster, which may join and leave at any time.

    Args:
        address: of the scheduler, "tcp://host:port".
        backend: by name; each worker uses all GPUs that it names.
    Raises:
        UserError: Dask is not installed, no scheduler answers, or no worker joins.
    """

    def __init__(self, address: str, backend: str) -> None:
        self.backend = backend
        try:
            from distributed import Client
        except ImportError:
            raise UserError(
                "farm: needs Dask: pip install 'raytracer[farm]', here and where the workers run"
            ) from None
        try:
            self._client: Any = Client(
                address, timeout=TIMEOUT, set_as_default=False, name="raytracer"
            )
        except Exception as error:  # another kind of server may send anything
            raise UserError(
                f"farm: no Dask scheduler answers at {shown(address)} ({shown(str(error), 200)}): "
                "start one with `dask scheduler`, and give the address that it prints"
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=FIRST_WORKER)
        except TimeoutError:
            self._client.close()
            raise UserError(
                f"farm: no worker has joined {shown(address)}: start some with "
                f"`dask worker {shown(address)} --nthreads 1`"
            ) from None
        self._executor: Any = self._client.get_executor(pure=False)

    @property
    def size(self) -> int:
        return max(len(self._client.scheduler_info(n_workers=-1)["workers"]), 1)

    def share(self, shared: Shared) -> Any:
        # Scattered data are lost with the last worker that has them; a task is not.
        return self._client.submit(_itself, shared, pure=False)

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(call, *arguments)
        return future

    def close(self) -> None:
        with suppress(Exception):  # the scheduler may have ended
            self._executor.shutdown(wait=False)
        with suppress(Exception):
            self._client.close(timeout=TIMEOUT)
