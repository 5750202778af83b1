"""The channel of states: the latest state wins, what is held stays, and memory does not grow."""

import errno
from threading import Thread
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.config.errors import UserError
from raytracer.in_situ.state_channel import MAX_BLOCKS, StateReader, StateWriter, make_channel
from support.live import size_of


def write(writer: StateWriter, value: float, count: int = 8, name: str = "points") -> None:
    """Write a set that holds one number alone, and publish the state."""
    assert writer.write(name, {"positions": np.full((count, 3), value)}, {"value": value})
    writer.publish({"value": value})


def held(reader: StateReader, name: str = "points") -> tuple[NDArray[Any], float]:
    """The array of a set in the latest state, and its other value."""
    arrays, values = reader.take().sets[name]
    return arrays["positions"], values["value"]


def test_the_latest_state_wins() -> None:
    writer, reader = make_channel()
    for value in range(10):
        write(writer, value)
    assert reader.number == 10
    assert not writer.is_taken
    state = reader.take()
    assert state.about == {"value": 9}
    np.testing.assert_array_equal(state.sets["points"][0]["positions"], np.full((8, 3), 9.0))
    assert writer.is_taken


def test_what_is_held_stays() -> None:
    writer, reader = make_channel()
    write(writer, 1.0)
    rows = held(reader)[0][2:, ::-1]  # a view of the array holds it too
    for value in range(2, 20):
        write(writer, value)
        assert (rows == 1.0).all()
    later, _ = held(reader)
    assert (later == 19.0).all()
    assert size_of(writer) <= 4 * 1.25 * 256


def test_a_set_whose_blocks_are_all_in_use_is_left_out() -> None:
    writer, reader = make_channel()
    arrays = []
    for value in range(MAX_BLOCKS):
        write(writer, value)
        arrays.append(held(reader)[0])
    assert not writer.write("points", {"positions": np.zeros((8, 3))}, {})
    assert [array[0, 0] for array in arrays] == list(range(MAX_BLOCKS))
    del arrays[3]
    write(writer, 9.0)
    assert held(reader)[1] == 9.0


@pytest.mark.parametrize("counts", [[1000], [1000, 10, 0, 700], list(range(0, 1000, 37))])
def test_memory_does_not_grow_with_the_number_of_states(counts: list[int]) -> None:
    writer, reader = make_channel()
    most = 0
    for step in range(1000):
        count = counts[step % len(counts)]
        write(writer, step, count)
        if step % 3 == 0:
            array, value = held(reader)
            assert array.shape == (count, 3)
            assert (array == value).all()
        if step == 10 * len(counts):
            most = size_of(writer)
    assert size_of(writer) == most
    assert most <= 1.3 * 3 * max(counts) * 24


def test_sets_that_are_not_written_stay() -> None:
    writer, reader = make_channel()
    write(writer, 1.0, name="walls")
    for value in range(2, 9):
        write(writer, value, name="grains")
    state = reader.take()
    assert {name: values["value"] for name, (_, values) in state.sets.items()} == {
        "walls": 1.0, "grains": 8,
    }  # fmt: skip


def test_a_state_of_several_sets_is_published_as_one() -> None:
    writer, reader = make_channel()
    for value in range(1, 5):
        writer.write("a", {"positions": np.full((3, 3), value)}, {"value": value})
        if value == 4:
            break  # the second set of this step is not there yet
        writer.write("b", {"positions": np.full((5, 3), value)}, {"value": value})
        writer.publish({})
    assert [values["value"] for _, values in reader.take().sets.values()] == [3, 3]


def test_arrays_are_copied_as_they_are() -> None:
    writer, reader = make_channel()
    rng = np.random.default_rng(1)
    given = {
        "positions": rng.normal(size=(6, 50))[::2].T,  # no contiguous array
        "colors": rng.integers(0, 255, (50, 3), np.uint8),
        "names": np.array(["red", "green"] * 25),
        "big": np.arange(50, dtype=">i4"),
    }
    writer.write("points", given, {})
    writer.publish({})
    arrays, _ = reader.take().sets["points"]
    for name, array in given.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_the_reader_is_woken() -> None:
    writer, reader = make_channel()
    calls: list[int] = []
    reader.on_change = lambda: calls.append(reader.number)
    assert not reader.has_newer
    write(writer, 1.0)
    assert calls == [1]
    assert reader.has_newer
    reader.take()
    assert not reader.has_newer


def test_states_are_whole_while_both_sides_are_busy() -> None:
    writer, reader = make_channel()
    write(writer, 0.0, 500)
    seen: list[float] = []
    wrong: list[float] = []

    def read() -> None:
        while not seen or seen[-1] < 2000.0:
            array, value = held(reader)
            if not (array == value).all():
                wrong.append(value)
            seen.append(value)

    thread = Thread(target=read)
    thread.start()
    for value in range(1, 2001):
        write(writer, value, 400 + value % 200)
    thread.join(60.0)
    assert not thread.is_alive()
    assert wrong == []
    assert seen == sorted(seen)


@pytest.mark.parametrize("call", ["os.ftruncate", "raytracer.in_situ.memory.mmap"])
def test_without_room_the_state_before_stays(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, reader = make_channel()
    write(writer, 1.0)

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    for name in ("points", "more"):  # a set that grows, and a new one
        with monkeypatch.context() as patch:
            patch.setattr(call, refuse)
            with pytest.raises(UserError, match=r"cannot be had \(Cannot allocate memory\): log"):
                write(writer, 2.0, 1000, name)
    write(writer, 3.0)
    assert reader.take().sets.keys() == {"points"}
    assert held(reader)[1] == 3.0
    write(writer, 4.0, 1000)
    write(writer, 4.0, 1000, "more")
    assert held(reader)[0].shape == held(reader, "more")[0].shape == (1000, 3)
