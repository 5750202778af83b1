"""The mailbox: the latest state wins, what is read stays, and memory does not grow."""

import errno
from threading import Thread
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.errors import UserError
from raytracer.in_situ.mailbox import MAX_SETS, SLOTS, TABLE_BYTES, Reader, Writer, mailbox
from support.previews import wait_for


def write(writer: Writer, value: float, count: int = 8, name: str = "points") -> None:
    """Write a set that holds one number alone, and publish the state."""
    writer.write(name, {"positions": np.full((count, 3), value)}, {"value": value})
    wait_for(lambda: writer.publish({"value": value}), "the lock")


def held(reader: Reader, name: str = "points") -> tuple[NDArray[Any], float]:
    """The array of a set in the latest state, and its other value."""
    arrays, values = reader.take().sets[name]
    return arrays["positions"], values["value"]


def test_the_latest_state_wins() -> None:
    writer, reader = mailbox()
    for value in range(10):
        write(writer, value)
    assert reader.number == 10
    assert not writer.is_taken
    state = reader.take()
    assert (state.number, state.about) == (10, {"value": 9})
    np.testing.assert_array_equal(state.sets["points"][0]["positions"], np.full((8, 3), 9.0))
    assert writer.is_taken


def test_what_is_read_stays_until_the_next_state_is_taken() -> None:
    writer, reader = mailbox()
    write(writer, 1.0)
    array, _ = held(reader)
    for value in range(2, 20):
        write(writer, value)
        assert (array == 1.0).all()
    later, _ = held(reader)
    assert (later == 19.0).all()


@pytest.mark.parametrize("counts", [[1000], [1000, 10, 0, 700], list(range(0, 1000, 37))])
def test_memory_does_not_grow_with_the_number_of_states(counts: list[int]) -> None:
    writer, reader = mailbox()
    most = 0
    for step in range(1000):
        count = counts[step % len(counts)]
        write(writer, step, count)
        if step % 3 == 0:
            array, value = held(reader)
            assert array.shape == (count, 3)
            assert (array == value).all()
        if step == len(counts):
            most = writer.nbytes
    assert writer.nbytes == most
    assert most <= 1.3 * SLOTS * max(counts) * 24


def test_sets_that_are_not_written_stay() -> None:
    writer, reader = mailbox()
    write(writer, 1.0, name="walls")
    for value in range(2, 9):
        write(writer, value, name="grains")
    state = reader.take()
    assert {name: values["value"] for name, (_, values) in state.sets.items()} == {
        "walls": 1.0, "grains": 8,
    }  # fmt: skip


def test_a_state_of_several_sets_is_published_as_one() -> None:
    writer, reader = mailbox()
    for value in range(1, 5):
        writer.write("a", {"positions": np.full((3, 3), value)}, {"value": value})
        if value == 4:
            break  # the second set of this step is not there yet
        writer.write("b", {"positions": np.full((5, 3), value)}, {"value": value})
        assert writer.publish({})
    assert [values["value"] for _, values in reader.take().sets.values()] == [3, 3]


def test_arrays_are_copied_as_they_are() -> None:
    writer, reader = mailbox()
    rng = np.random.default_rng(1)
    given = {
        "positions": rng.normal(size=(6, 50))[::2].T,  # no contiguous array
        "colors": rng.integers(0, 255, (50, 3), np.uint8),
        "names": np.array(["red", "green"] * 25),
        "big": np.arange(50, dtype=">i4"),
    }
    writer.write("points", given, {})
    assert writer.publish({})
    arrays, _ = reader.take().sets["points"]
    for name, array in given.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_the_reader_is_woken_once() -> None:
    writer, reader = mailbox()
    calls: list[int] = []
    reader.on_change = lambda: calls.append(reader.number)
    write(writer, 1.0)
    assert calls == []
    assert reader.awaits()  # there is one
    reader.take()
    write(writer, 2.0)
    assert calls == []  # it does not wait
    reader.take()
    assert not reader.awaits()
    write(writer, 3.0)
    write(writer, 4.0)
    assert calls == [3]


def test_the_writer_does_not_wait_for_the_reader() -> None:
    writer, reader = mailbox()
    write(writer, 1.0)
    with reader._control:
        writer.write("points", {"positions": np.full((8, 3), 2.0)}, {"value": 2.0})
        assert not writer.publish({})
    assert held(reader)[1] == 1.0
    assert writer.publish({})
    assert held(reader)[1] == 2.0


def test_states_are_whole_while_both_sides_are_busy() -> None:
    writer, reader = mailbox()
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


@pytest.mark.parametrize("call", ["os.ftruncate", "raytracer.in_situ.mailbox.mmap"])
def test_without_room_the_state_before_stays(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, reader = mailbox()
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


def test_more_than_a_table_holds_is_refused() -> None:
    writer, _ = mailbox()
    writer.write("points", {}, {"colors": "x" * TABLE_BYTES})
    with pytest.raises(UserError, match="give colours as an array"):
        writer.publish({})
    writer, _ = mailbox()
    for number in range(MAX_SETS):
        writer.write(str(number), {}, {})
    with pytest.raises(UserError, match="at most 255 names"):
        writer.write("more", {}, {})
