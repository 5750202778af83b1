"""Variables of the environment."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from fuzz.cases.base import BALL, MARKER, SMALL, case


def register() -> None:
    """Add the cases to the list."""

    def render(name: str, value: str, code: int, *words: str, **rest: Any) -> None:
        made = (
            ("a.png", *(("h.png",) if "--histogram" in words and code == 0 else ()))
            if code == 0
            else ()
        )
        case(
            f"{name}={value[:30]!r}",
            {"a.toml": BALL},
            "render",
            "a.toml",
            *SMALL,
            *words,
            code=code,
            env={name: value},
            makes=made,
            **rest,
        )

    for value in ("0", "-1", "x", "1.5", "٣", "9" * 5000, " 2 ", "", MARKER, "0" * 5000):
        right = 0 if value in ("9" * 5000, " 2 ", "", "٣") else 2
        render("RAYTRACER_THREADS", value, right)
    for value in ("/dev/null", "none/none", MARKER, "/proc/none", "x" * 5000):
        render("RAYTRACER_CACHE", value, 0)
        render("RAYTRACER_CUBINS", value, 0)
        render("RAYTRACER_NVCC", value, 0)
        render("TMPDIR", value, 0)
        render("HOME", value, 0)
    for name, value in {
        "LC_ALL": "C",
        "PYTHONIOENCODING": "ascii",
        "COLUMNS": "-1",
        "TERM": "",
        "PYTHONOPTIMIZE": "2",
        "OPENBLAS_NUM_THREADS": "x",
        "PYTHONWARNINGS": "error",
        "PYTHONUTF8": "0",
        "CUDA_VISIBLE_DEVICES": "x",
        "NO_COLOR": "1",
    }.items():
        render(name, value, 0)
    drawn = 0 if find_spec("matplotlib") else 2  # an extra
    render("MPLBACKEND", "none", drawn, "--histogram", "h.png")
    render("MPLCONFIGDIR", "/dev/null", drawn, "--histogram", "h.png")
    case(
        "schema without docstrings",
        {},
        "scene",
        "schema",
        code=0,
        env={"PYTHONOPTIMIZE": "2"},
        says="Half width of the filter",
    )
    case("help without docstrings", {}, "render", "--help", code=0, env={"PYTHONOPTIMIZE": "2"})
    case(
        "a title in ASCII",
        {"a.toml": "title = 'ü\u4e2d'\n" + BALL},
        "scene",
        "check",
        "a.toml",
        code=0,
        env={
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONIOENCODING": "ascii",
        },
    )
    case("no terminal's width", {}, "--help", code=0, env={"COLUMNS": "x", "TERM": "\x1b"})
    case(
        "preview without a display",
        {"a.toml": BALL},
        "preview",
        "a.toml",
        env={"DISPLAY": ":99", "WAYLAND_DISPLAY": ""},
    )
    case(
        "preview of a display that is none",
        {"a.toml": BALL},
        "preview",
        "a.toml",
        env={"DISPLAY": f"{MARKER}" * 100},
    )
    case("preview over the scene", {"a.toml": BALL}, "preview", "a.toml", "--screenshot", "a.toml")
