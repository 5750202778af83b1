"""The page of a slow connection: what it gets is counted in bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from raytracer.browser.link import MIN_BYTES
from support.chromium import Site

pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

RATE = 50.0  # bytes per millisecond, which the page reports

RECORD = f"""const Real = WebSocket;
window.heard = []; // header and bytes of each message
window.WebSocket = class extends Real {{
  constructor(...values) {{
    super(...values);
    this.addEventListener("message", ({{ data }}) => {{
      if (typeof data === "string") {{
        heard.push({{ ...JSON.parse(data), bytes: data.length }});
        return;
      }}
      const length = new DataView(data).getUint32(0, true);
      const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
      heard.push({{ ...header, bytes: data.byteLength }});
    }});
  }}
  send(text) {{
    const message = JSON.parse(text);
    const of = heard.find(({{ serial }}) => serial === message.serial);
    super.send(JSON.stringify(message.type === "ack" ? {{ ...message, ms: of.bytes / {RATE} }}
                                                     : message));
  }}
}};"""


def test_a_small_picture_comes_first_and_becomes_finer(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    rows = [f"{x},{y},{(x * 7 + y * 3) % 5}" for x in range(40) for y in range(40)]
    path.write_text("\n".join(["x,y,z", *rows]) + "\n")
    with Site(path, backend="cpu", threads=1, samples=4) as site:
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        page.add_init_script(RECORD)
        page.goto(site.address)
        page.wait_for_function("() => window.raytracerView?.header?.finished")
        heard: list[dict[str, Any]] = page.evaluate("heard")
        page.close()
    frames, total, own = [], 0, 0
    for each in heard:
        total += each["bytes"]
        own += each["bytes"] if each["type"] in ("part", "frame") else 0
        if each["type"] == "frame":
            frames.append(each | {"until": total, "bytes": own})
            own = 0
    # A fifth of a second at this rate, with the state of the panel.
    assert frames[0]["until"] < MIN_BYTES + 4000
    assert frames[-1]["bytes"] > 10 * frames[0]["bytes"], "the scene is too small for this test"
    assert frames[-1]["parts"] > 0
    assert not frames[-1].get("reduced")
