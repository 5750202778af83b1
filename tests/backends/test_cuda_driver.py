"""The bindings of the driver, and sentences for what CUDA says."""

import atexit
import ctypes
import struct
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import driver, probe
from raytracer.backends.cuda.cache import Usage, parse_usage, parse_usage_by_entry
from raytracer.backends.cuda.driver import format_architecture, translate_errors
from raytracer.backends.cuda.kernel import check_layout
from raytracer.backends.cuda.run import check_memory
from raytracer.config.errors import BackendError, MemoryNeedError
from raytracer.system import cuda_driver
from raytracer.system.cuda_driver import Fence, explain_driver_error, order_streams
from support.commands import python
from support.fake_cuda import cleared

Installed = Callable[..., None]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    """Return a function that pretends that some bindings are installed, and some of them broken."""

    def pretend(*names: str, broken: tuple[str, ...] = ()) -> None:
        there = {driver.MODULES[name] for name in names}
        bad = {driver.MODULES[name] for name in broken}

        def load(module: str) -> Any:
            if module in bad:
                raise ImportError("undefined symbol: cuSomething")
            if module not in there:
                raise ModuleNotFoundError("No module named 'cuda'")
            return SimpleNamespace(Error=OSError, init=lambda: None, name=module)

        monkeypatch.setattr(driver, "import_module", load)

    monkeypatch.delenv(driver.VARIABLE, raising=False)
    with cleared(driver.load, driver.choose_binding, driver.format_label):
        yield pretend
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("names", "broken", "taken"),
    [
        (("pycuda", "cuda-bindings"), (), "pycuda"),
        (("cuda-bindings",), (), "cuda-bindings"),
        (("pycuda",), (), "pycuda"),
        (("pycuda", "cuda-bindings"), ("pycuda",), "cuda-bindings"),
    ],
)
def test_pycuda_is_taken_where_it_loads(
    installed: Installed, names: tuple[str, ...], broken: tuple[str, ...], taken: str
) -> None:
    installed(*names, broken=broken)
    assert driver.choose_binding() == taken
    assert driver.load().name == driver.MODULES[taken]
    assert driver.format_label().startswith(taken)


@pytest.mark.parametrize(
    ("names", "broken", "wanted", "words"),
    [
        ((), (), "", "no Python binding of the driver: pycuda does not .*: `pip inst"),
        (("pycuda",), (), "cuda-bindings", r"cuda-bindings does not load \(No module"),
        (("pycuda",), ("pycuda",), "", r"pycuda does not load \(undefined.*: `pip"),
        (("pycuda",), (), "cupy", "RAYTRACER_CUDA_BINDING is 'cupy': set it to pycuda or cuda-b"),
    ],
)
def test_without_a_binding_it_is_a_sentence(
    installed: Installed,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    broken: tuple[str, ...],
    wanted: str,
    words: str,
) -> None:
    monkeypatch.setenv(driver.VARIABLE, wanted)
    installed(*names, broken=broken)
    with pytest.raises(BackendError, match=words) as caught:
        driver.load()
    assert len(caught.value.sentences) == 1


@pytest.fixture(params=list(driver.MODULES))
def each(request: pytest.FixtureRequest, cuda: str) -> Iterator[Any]:
    """Each binding in turn, with the context of the first GPU current."""
    module = pytest.importorskip(driver.MODULES[request.param])
    context = retained(module)
    context.push()
    yield module
    context.pop()


@cache
def retained(module: Any) -> Any:
    """Return the primary context, which PyCUDA would leave current if it were released earlier."""
    module.init()
    context = module.Device(0).retain_primary_context()
    atexit.register(context.detach)
    return context


KERNEL = """// title: Scale
// idea: multiplies
// block: 32
// needs: sm_75+
// source: none
#include <stdint.h>
__constant__ float c_factor;
extern "C" __global__ void scale(float* out, const float* in, int32_t n, float more,
                                 int64_t first) {
  extern __shared__ float part[];
  part[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  int64_t i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) out[first + i] = part[threadIdx.x] * c_factor + more;
}
"""


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda_compiler")
def test_copies_and_launches_on_a_gpu(each: Any, tmp_path: Path) -> None:
    source = tmp_path / "scale.cu"
    source.write_text(KERNEL)
    arch = format_architecture(each.Device(0).compute_capability())
    module = each.module_from_buffer(compiler.compile_source(source, arch, tmp_path).code)
    stream, start, end = each.Stream(1), each.Event(), each.Event()
    values = np.arange(64, dtype=np.float32)
    given, out = each.mem_alloc(values.nbytes), each.mem_alloc(8 + values.nbytes)
    locked = each.pagelocked_empty(values.nbytes, np.uint8)
    locked[:] = values.view(np.uint8)
    each.memcpy_htod_async(int(given), locked, stream)
    each.memset_d32_async(int(out), 0x3F800000, 66, stream)
    factor, size = module.get_global("c_factor")
    assert size == 4
    each.memcpy_htod_async(factor, np.float32(3).tobytes(), stream)
    function = module.get_function("scale")
    function.prepare(["P", "P", "i", "f", "q"])
    start.record(stream)
    function.prepared_async_call(
        (2, 1, 1), (32, 1, 1), stream, int(out), int(given), 50, 0.5, 2, shared_size=128
    )
    end.record(stream)
    end.synchronize()
    assert end.time_since(start) > 0
    assert function.num_regs > 0
    found = np.empty(66, np.float32)
    each.memcpy_dtoh(found, int(out))
    np.testing.assert_array_equal(found[2:52], values[:50] * 3 + 0.5)
    assert (np.delete(found, range(2, 52)) == 1).all()
    with pytest.raises(each.LogicError):
        module.get_function("nothing")
    with pytest.raises(each.LogicError):
        module.get_global("nothing")


@pytest.mark.gpu
def test_full_memory_is_a_sentence_on_a_gpu(each: Any) -> None:
    with pytest.raises(MemoryNeedError, match="out of memory"), translate_errors(each):
        each.mem_alloc(each.mem_get_info()[1] * 2)


@pytest.mark.gpu
@pytest.mark.parametrize("binding", list(driver.MODULES))
def test_both_bindings_render_the_same_picture(cuda: str, tmp_path: Path, binding: str) -> None:
    """As the product is used: a process that takes the binding, and tells which."""
    pytest.importorskip(driver.MODULES[binding])
    chosen = {driver.VARIABLE: binding}
    devices = python("-m", "raytracer", "devices", env=chosen).stdout
    assert f"{binding} " in devices.split("binding", 1)[1].splitlines()[0]
    pictures = []
    for name, environment in (("own", chosen), ("any", {driver.VARIABLE: ""})):
        path = tmp_path / f"{name}.png"
        words = "-m raytracer render weekend --backend cuda --width 200 --height 120 --samples 3"
        python(*words.split(), "-o", str(path), env=environment)
        with Pillow.open(path) as read:  # whose text has the time that it took
            pictures.append(np.asarray(read))
    assert pictures[0].any()
    assert np.array_equal(pictures[0], pictures[1])


TABLE = {
    "Camera": (64, [("origin", "f4", 3, 0), ("kind", "i4", 1, 12)]),
    "Light": (32, [("vector", "f4", 3, 0), ("color", "f4", 3, 16)]),
}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("cuEventSynchronize failed: the launch timed out and was terminated", "display"),
        ("cuEventSynchronize failed: an illegal memory access was encountered", "restart"),
        ("cuModuleLoadDataEx failed: no kernel image is available", "another GPU"),
        ("cuInit failed: something new", "something new"),
        ("cuMemAlloc failed: out of memory", "--backend cpu"),
    ],
)
def test_driver_errors_become_sentences(said: str, words: str) -> None:
    error = explain_driver_error(said)
    assert type(error) is (MemoryNeedError if "of memory" in said else BackendError)
    assert words in str(error)
    assert said.partition(": ")[2] in str(error)


STARTS = [
    (3, "initialization error", "'spawn'"),
    (34, "CUDA driver is a stub library", "(stubs) out of LD_LIBRARY_PATH"),
    (100, "no CUDA-capable device is detected", "docker run --gpus all"),
    (802, "system not yet initialized", "nvidia-fabricmanager"),
    (803, "system has unsupported display driver / cuda driver combination", "restart the machine"),
    (804, "forward compatibility was attempted on non supported HW", "cuda-compat"),
    (999, "unknown error", "modprobe nvidia_uvm"),
]


@pytest.mark.parametrize(("status", "said", "remedy"), STARTS)
def test_a_driver_that_does_not_start_is_told_with_its_remedy(
    status: int, said: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The messages are those of the driver, by the library itself and by both bindings."""

    def told(_: int, text: Any) -> None:
        text._obj.value = said.encode()

    library = SimpleNamespace(cuInit=lambda _: status, cuGetErrorString=told)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    sentence = probe.explain_missing()
    assert sentence is not None
    for each in (sentence, str(explain_driver_error(f"cuInit failed: {said}"))):
        assert said in each
        assert remedy in each
        assert "\n" not in each
    assert f"(CUDA error {status})" in sentence
    assert len(BackendError(sentence).sentences) == 1


def test_a_driver_without_a_gpu_or_with_another_error(monkeypatch: pytest.MonkeyPatch) -> None:
    library = SimpleNamespace(cuInit=lambda _: 0, cuDeviceGetCount=lambda _: 0)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    assert "--gpus all" in str(probe.explain_missing())
    library.cuInit, library.cuGetErrorString = lambda _: 777, lambda *_: 0
    assert "(CUDA error 777): see whether `nvidia-smi` works" in str(probe.explain_missing())


def test_too_large_a_scene_is_told_what_would_fit() -> None:
    parts = {"nodes": 3 << 30, "spheres": 1 << 30}
    with pytest.raises(MemoryNeedError, match=r"4\.0 GiB.*nodes: 3\.0 GiB.*about 50 of its 100"):
        check_memory(parts, free=2 << 30, spheres=100)


def test_a_layout_that_differs_is_refused() -> None:
    right = [64, 0, 12, 32, 0, 16]
    check_layout(right, TABLE, "kernel.cu")
    for wrong in ([64, 0, 16, 32, 0, 16], [64, 0, 12, 48, 0, 16], right[:-1], [*right, 8]):
        with pytest.raises(BackendError, match=r"kernel.cu and .* lay out structs differently"):
            check_layout(wrong, TABLE, "kernel.cu")


LOG = """ptxas info    : 0 bytes gmem, 1536 bytes cmem[3]
ptxas info    : Compiling entry function 'mass' for 'sm_90a'
ptxas info    : Function properties for mass
    4 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 2048 bytes smem, 560 bytes cmem[0]
ptxas info    : Compiling entry function 'mass_2' for 'sm_90a'
ptxas info    : Function properties for mass_2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 560 bytes cmem[0]
"""


def test_usage_of_a_log_and_of_each_entry() -> None:
    assert parse_usage_by_entry(LOG) == {"mass": Usage(40, 2048, 24), "mass_2": Usage(32, 0, 0)}
    assert parse_usage(LOG) == Usage(40, 2048, 24)
    assert parse_usage("") == Usage(0, 0, 0)
    assert parse_usage_by_entry("") == {}


def test_a_launch_has_what_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU: what the driver is asked for, in the order of its manual."""
    bindings = pytest.importorskip("raytracer.backends.cuda.cuda_bindings")
    asked: list[Any] = []
    monkeypatch.setattr(bindings, "ask", lambda call, *given: asked.append((call.__name__, given)))
    function = bindings.Function(SimpleNamespace(handle=1), "scale")
    function.prepare(["P", "i", "f"])
    stream = SimpleNamespace(handle=7)
    function.prepared_async_call((2, 3, 4), (32, 2, 1), stream, 16, 5, 0.5, shared_size=128)
    function.prepared_async_call((1, 1, 1), (8, 1, 1), stream, 32, 6, 0.25)
    launches = [given for name, given in asked if name == "cuLaunchKernel"]
    assert [given[1:7] for given in launches] == [(2, 3, 4, 32, 2, 1), (1, 1, 1, 8, 1, 1)]
    assert [given[7:9] for given in launches] == [(128, 7), (0, 7)]
    assert struct.unpack("Pif", function._block.raw) == (32, 6, 0.25)


def test_a_fence_is_a_node_of_a_graph_only_where_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a GPU: the flags of the driver's manual are 0 outside of a capture. With the external
    flag the driver refuses a stream that is not captured."""
    asked: list[tuple[str, int | None, int]] = []

    def record(event: Any, stream: Any, flags: int) -> int:
        asked.append(("record", stream.value, flags))
        return 0

    def wait(stream: Any, event: Any, flags: int) -> int:
        asked.append(("wait", stream.value, flags))
        return 0

    names = ["cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuEventCreate", "cuEventDestroy_v2"]
    names += ["cuDeviceGet", "cuDevicePrimaryCtxRetain"]
    calls = {name: lambda *given: 0 for name in names}
    fake = SimpleNamespace(cuEventRecordWithFlags=record, cuStreamWaitEvent=wait, **calls)
    with cleared(cuda_driver._primary_context, cuda_driver._fence):
        monkeypatch.setattr(cuda_driver, "_driver", lambda: fake)
        fence = Fence(0)
        fence.record(7)
        fence.wait(8)
        fence.record(7, in_graph=True)
        fence.wait(8, in_graph=True)
        order_streams(9, 10, 0)
    external = 1  # CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL
    assert asked == [
        ("record", 7, 0), ("wait", 8, 0), ("record", 7, external), ("wait", 8, external),
        ("record", 10, 0), ("wait", 9, 0),
    ]  # fmt: skip
