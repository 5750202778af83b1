"""Host: the thread of a session that is shown in pages or in a notebook.

Messages of clients are queued and handled in order. A client gets the latest picture when it has
drawn one of the last two, as large as its connection allows (`connection.py`): no client sees a
queue of stale pictures.
"""

import atexit
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread, current_thread
from time import perf_counter
from typing import Any, TypeVar

from raytracer.browser.connection import Client, EncodedPicture, encode_picture
from raytracer.browser.messages import Ack, Act, Save, Size, parse
from raytracer.config.errors import UserError
from raytracer.film.image import Image
from raytracer.viewer import panel
from raytracer.viewer.actions import find_action
from raytracer.viewer.controls import CONTROLS, MOUSE
from raytracer.viewer.messages import format_error
from raytracer.viewer.picking import trace_rings
from raytracer.viewer.save_view import save
from raytracer.viewer.session import HostFrame, Session
from raytracer.viewer.view_actions import tick

REFINE_INTERVAL = 0.2  # seconds between frames that only add samples: encoding takes time

STATE_INTERVAL = 0.1
TICK = 1.0 / 60.0
MAX_TICK = 0.25  # longest step in seconds: after a pause the turntable continues where it was

START_SIZE = {"width": 800, "height": 600}  # size of the first picture, until a page states its own

OF_WINDOWS = (
    "ask", "toggle-help", "toggle-overlay", "toggle-panel", "toggle-full-screen", "close",
)  # fmt: skip
"""Actions that are only for windows."""

DIGITS = 5  # decimal places of a corner of a ring, relative to the picture

WAIT = 0.1

Result = TypeVar("Result")


class Host:
    """Shows a session to clients until it is closed. Public methods are thread-safe."""

    def __init__(self, caller: str, scene: object, settings: Mapping[str, Any]) -> None:
        """Open a session; arguments as for `raytracer.preview`, which messages call `caller`."""
        self.failure: BaseException | None = None
        self.on_end: Callable[[], object] = _do_nothing
        self.calls: SimpleQueue[Callable[[], object]] = SimpleQueue()  # waiting messages
        self._clients: set[Client] = set()
        self._picture: HostFrame | None = None  # the latest
        self._encoded: tuple[HostFrame | None, Future[EncodedPicture]] = None, Future()
        self._refine_due = self._state_due = 0.0
        self._stopped = False
        given = {name: value for name, value in settings.items() if value is not None}
        self._session = Session.open(
            scene, wake=lambda: self.calls.put(_do_nothing), say=lambda _: None, caller=caller,
            **START_SIZE | given,
        )  # fmt: skip
        self.name = panel.describe_state(self._session)["name"]
        self._encoder = ThreadPoolExecutor(1, "encode")
        self._thread = Thread(target=self._run, name="view", daemon=True)
        self._thread.start()
        # Python must not end while the render thread is in compiled code.
        atexit.register(self.close)

    # For any thread

    @property
    def has_ended(self) -> bool:
        """Whether the session has ended by itself, or by a failure."""
        return self._stopped or self.failure is not None

    def join(self, client: Client) -> None:
        """Add a client; it gets the state at once, and pictures once it has sent its size."""

        def add() -> None:
            self._clients.add(client)
            client.send_state(self._current_state())

        self.calls.put(add)

    def leave(self, client: Client) -> None:
        self.calls.put(lambda: self._clients.discard(client))

    def receive(self, client: Client, content: str | dict[str, Any]) -> None:
        """Handle a message of a client in order; it hears of mistakes."""
        self.calls.put(lambda: self._perform(client, content))

    def call(self, function: Callable[[Session], Result]) -> Result:
        """Call a function with the session in its thread, and return its result."""
        result: Future[Result] = Future()

        def perform() -> None:
            try:
                result.set_result(function(self._session))
            except BaseException as error:
                result.set_exception(error)

        self.calls.put(perform)
        while not result.done():
            if not self._thread.is_alive():  # it may end before the call
                raise UserError("the view was closed: open it again") from self.failure
            wait([result], WAIT)
        return result.result()

    def picture(self, patience: float) -> HostFrame | None:
        """Return the latest picture, waiting at most `patience` seconds for a finished one."""

        def latest(session: Session) -> HostFrame | None:
            self._picture = session.picture(WAIT) or self._picture
            return self._picture

        end = perf_counter() + patience
        while (picture := self.call(latest)) is None or not picture.frame.finished:
            if perf_counter() >= end:
                break
        return picture

    def close(self) -> None:
        """End the session and its threads, and free their memory; may be called twice."""
        atexit.unregister(self.close)
        self._stopped = True
        self.calls.put(_do_nothing)
        if current_thread() is not self._thread:  # that thread may collect this object as garbage
            self._thread.join()
        self._encoder.shutdown(wait=True, cancel_futures=True)
        self._session.close()

    # In the thread of the session

    def _run(self) -> None:
        try:
            before = perf_counter()
            while not self._stopped:
                self._take_calls()
                now = perf_counter()
                if now - before >= TICK:
                    looked_at = any(each.is_active(now) for each in self._clients)
                    if looked_at and self._session.is_moving:
                        tick(self._session, min(now - before, MAX_TICK))
                    before = now
                self._session.receive()
                self._send_picture()
                self._send_state()
                if self._session.failure is not None:
                    raise self._session.failure
                if self._session.closing and not self._stopped:  # the simulation has ended
                    self._stopped = True
                    self.on_end()
        except BaseException as error:
            self.failure = error
            self.on_end()

    def _take_calls(self) -> None:
        try:
            patience = TICK if self._session.is_moving else STATE_INTERVAL
            self.calls.get(timeout=patience if self._clients else None)()
            while True:
                self.calls.get_nowait()()
        except Empty:
            return

    def _perform(self, client: Client, content: str | dict[str, Any]) -> None:
        if client not in self._clients:
            return
        client.heard = perf_counter()
        try:
            message = parse(content)
            if isinstance(message, Ack):
                client.acknowledge(message)
                return
            if isinstance(message, Size):
                client.size = message.width, message.height
            if client.size is not None:  # the view has the size of the latest user
                self._session.resize(*client.size)
            if isinstance(message, Act):
                if find_action(message.name).name in OF_WINDOWS:
                    raise UserError(f"{message.name}: is only for windows")
                given = message.values
                in_order, by_name = (given, {}) if isinstance(given, list) else ([], given)
                text = self._session.do(message.name, *in_order, **by_name)
                if isinstance(text, str):
                    client.send({"type": "text", "text": text})
            elif isinstance(message, Save):
                self._begin_save(client, message)
        except Exception as error:
            sentence = format_error(error, "message: failed")
            client.send({"type": "error", "sentence": sentence})

    def _begin_save(self, client: Client, message: Save) -> None:
        session = self._session
        width, height = session.size
        size = message.width or width, message.height or height
        name = f"{session.loaded_scene.stem}.png"

        def deliver(image: Image) -> None:
            client.send({"type": "file", "name": name, "mime": "image/png"}, image._repr_png_())

        save(session, size, message.samples or session.samples, Path(name), deliver)

    def _send_state(self) -> None:
        now = perf_counter()
        if self._clients and now >= self._state_due:
            self._state_due = now + STATE_INTERVAL
            state = self._current_state()
            for client in self._clients:
                client.send_state(state)

    def _current_state(self) -> dict[str, Any]:
        """Return the state for pages, with the rings, since a pick makes no new picture."""
        rows = {
            f"panel {title}": each for title, each in panel.describe_panel(self._session).items()
        }
        return panel.describe_state(self._session) | rows | {"rings": _make_rings(self._session)}

    def _send_picture(self) -> None:
        """Send the latest picture, or more of an earlier one, to the clients that are ready."""
        ready = [client for client in self._clients if client.is_ready]
        if not ready:
            return
        self._picture = picture = self._session.picture() or self._picture
        wanting = [client for client in ready if picture is not None and client.needs(picture)]
        if picture is None or not wanting:
            return
        frame = picture.frame
        if not (frame.draft or frame.finished):
            if perf_counter() < self._refine_due:
                return
            self._refine_due = perf_counter() + REFINE_INTERVAL
        file = self._encode_picture(picture)
        if file is None:
            return
        header = {
            "type": "frame", "number": picture.number, "full": list(frame.request.size),
            "samples": frame.samples, "of": frame.request.samples, "draft": frame.draft,
            "finished": frame.finished, "rings": _make_rings(self._session),
        }  # fmt: skip
        for client in wanting:
            client.show(picture, header, file)

    def _encode_picture(self, picture: HostFrame) -> EncodedPicture | None:
        """Return an encoded picture; None while a finished one is encoded, which takes longer."""
        if not picture.frame.finished:
            return encode_picture(picture)
        if self._encoded[0] is not picture:
            self._encoded = picture, self._encoder.submit(encode_picture, picture)
            self._encoded[1].add_done_callback(lambda _: self.calls.put(_do_nothing))
        future = self._encoded[1]
        return future.result() if future.done() else None


def make_hello() -> dict[str, Any]:
    """Return the keys and mouse gestures with their actions, which a page needs once."""
    return {
        "type": "hello",
        "controls": [each.to_json() for each in CONTROLS],
        "mouse": [each.to_json() for each in MOUSE],
    }


def _make_rings(session: Session) -> list[list[tuple[float, float]]]:
    """Return the rings of picks: x to the right and y down, relative to the picture."""
    width, height = session.size
    return [
        [(round(x / width, DIGITS), round(1.0 - y / height, DIGITS)) for x, y in corners]
        for corners in trace_rings(session, session.size)
    ]


def _do_nothing() -> None:
    """Wake the thread."""
