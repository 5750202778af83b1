"""The view in a cell of a notebook (Jupyter, VS Code), by anywidget."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import anywidget
import traitlets

from raytracer.browser import client
from raytracer.browser.connection import STILL_PIXELS, Client, encode_still
from raytracer.browser.host import Host, make_hello
from raytracer.config.errors import UserError
from raytracer.model.camera import Camera
from raytracer.viewer.panel import describe_state

FIRST_PICTURE = 0.5  # seconds to wait for the picture that is stored for viewers without widgets


class SceneWidget(anywidget.AnyWidget):
    """An interactive view, returned by `raytracer.show`.

    While a cell runs, the kernel handles no messages: the view responds afterwards. Until then it
    shows at most five pictures per second.

    Args:
        scene, settings: as for `raytracer.show`.
        height: of the view, in CSS pixels.
    """

    _esm = client.make_script("notebook", "widget")
    _css = client.read_part("view.css")
    height = traitlets.Int(480).tag(sync=True)
    view_id = traitlets.Unicode().tag(sync=True)  # of the model
    still_pixels = traitlets.Int(STILL_PIXELS).tag(sync=True)

    def __init__(self, scene: object, height: int, settings: Mapping[str, Any]) -> None:
        model_id = uuid4().hex
        super().__init__(height=height, model_id=model_id, view_id=model_id)
        self._host = Host("show", scene, {**settings, "height": height})
        self._client = self._new_client()
        self._views = 0  # cells that show it
        self.on_msg(self._receive)

    def do(self, name: str, /, *arguments: Any, **named: Any) -> Any:
        """Perform an action of the view, such as `orbit`, `look` or `color-by`.

        Returns:
            The text of an action that has one, such as `print-camera`.

        Raises:
            UserError: there is no such action, or an argument is wrong.
        """
        return self._host.call(lambda session: session.do(name, *arguments, **named))

    @property
    def camera(self) -> Camera:
        """The camera of the view, for `Scene.camera`."""
        return self._host.call(lambda session: session.camera)

    def state(self) -> dict[str, Any]:
        """Return the state of the view as JSON types: camera, look, colours, selection, frame."""
        return self._host.call(describe_state)

    def _repr_mimebundle_(self, **named: Any) -> Any:
        """Return the view, with a picture for viewers without widgets."""
        bundle = super()._repr_mimebundle_(**named)
        try:
            picture = self._host.picture(FIRST_PICTURE)
        except UserError:  # it was closed
            return bundle
        if bundle is not None and picture is not None:
            bundle[0]["image/png"] = b64encode(encode_still(picture)).decode()
        return bundle

    @property
    def closed(self) -> bool:
        """Whether the view was closed."""
        return self._host.has_ended

    def close(self) -> None:
        """Remove the view, end its threads and free their memory."""
        if (host := getattr(self, "_host", None)) is not None:
            host.close()
        super().close()

    def _new_client(self) -> Client:
        def send(message: dict[str, Any], data: bytes | None = None) -> None:
            self.send(message, [] if data is None else [data])

        return Client(send, acks_blocked=True)  # its messages wait while a cell runs

    def _receive(self, _: Any, content: Any, __: Any) -> None:
        kind = content.get("type") if isinstance(content, dict) else None
        if kind in ("open", "close"):
            self._views += 1 if kind == "open" else -1
            if kind == "open" or self._views <= 0:
                self._host.leave(self._client)
        else:
            self._host.receive(self._client, content)
        if kind == "open":
            self._client = self._new_client()
            self._client.send(make_hello())
            self._host.join(self._client)
