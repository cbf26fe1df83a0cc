"""Q1 to Q4 and delta, as RabbitMQ's items 57 to 66 tell them."""

from reference_impl.mirrored.line import Line

SEGMENT = 4


def nothing(_: Line) -> tuple[list[int], int]:
    raise AssertionError("nothing is in delta")


def shape(line: Line) -> dict[str, list[int]]:
    delta = line.delta
    return {
        "q1": list(line.q1),
        "q2": list(line.q2),
        "delta": [delta.start, delta.end, delta.count] if delta.count else [],
        "q3": list(line.q3),
        "q4": list(line.q4),
    }


def filled(numbers: range) -> Line:
    line = Line(nothing, SEGMENT)
    for number in numbers:
        line.publish(number)
    return line


def test_with_memory_enough_all_that_comes_stands_in_q4() -> None:
    line = filled(range(5))
    assert shape(line) == {"q1": [], "q2": [], "delta": [], "q3": [], "q4": [0, 1, 2, 3, 4]}


def test_alphas_leave_q4_from_its_tail_and_newcomers_enter_q1() -> None:
    line = filled(range(5))
    assert line.become_betas(2) == [4, 3]
    line.publish(5)
    assert shape(line) == {"q1": [5], "q2": [], "delta": [], "q3": [3, 4], "q4": [0, 1, 2]}


def test_alphas_of_q1_go_to_q3_while_delta_is_empty() -> None:
    line = filled(range(5))
    line.become_betas(2)
    line.publish(5)
    assert line.become_betas(1) == [5]
    assert shape(line) == {"q1": [], "q2": [], "delta": [], "q3": [3, 4, 5], "q4": [0, 1, 2]}


def test_betas_leave_q3_but_for_the_segment_of_its_head() -> None:
    line = filled(range(12))
    line.become_betas(12)
    assert line.become_delta(99) == [*range(11, 3, -1)]
    assert shape(line) == {"q1": [], "q2": [], "delta": [4, 12, 8], "q3": [0, 1, 2, 3], "q4": []}


def test_alphas_of_q1_go_to_q2_while_delta_is_filled() -> None:
    line = filled(range(12))
    line.become_betas(12)
    line.become_delta(99)
    for number in (12, 13, 14):
        line.publish(number)
    line.become_betas(2)
    assert shape(line)["q1"] == [14]
    assert shape(line)["q2"] == [12, 13]
    assert line.become_delta(1) == [12]
    assert shape(line)["delta"] == [4, 13, 9]


def test_an_empty_q3_loads_delta_in_parts_and_then_q2() -> None:
    parts = [([4, 5, 6, 7], 8), ([8, 9, 10, 11], 12)]
    line = Line(lambda _: parts.pop(0), SEGMENT)
    for number in range(12):
        line.publish(number)
    line.become_betas(12)
    line.become_delta(99)
    line.publish(12)
    line.become_betas(1)
    line.publish(13)
    assert [line.take() for _ in range(4)] == [0, 1, 2, 3]
    assert shape(line) == {
        "q1": [13],
        "q2": [12],
        "delta": [8, 12, 4],
        "q3": [4, 5, 6, 7],
        "q4": [],
    }
    assert [line.take() for _ in range(4)] == [4, 5, 6, 7]
    assert shape(line)["q3"] == [8, 9, 10, 11, 12]
    assert [line.take() for _ in range(6)] == [8, 9, 10, 11, 12, 13]
    assert not len(line)


def test_q1_becomes_q4_when_nothing_stands_between() -> None:
    line = filled(range(2))
    line.become_betas(2)
    line.publish(2)
    assert [line.take(), line.take()] == [0, 1]
    assert shape(line) == {"q1": [], "q2": [], "delta": [], "q3": [], "q4": [2]}


def test_a_requeued_message_returns_to_its_position() -> None:
    line = filled(range(4))
    taken = [line.take() for _ in range(3)]
    line.requeue(taken[2])
    line.requeue(taken[0])
    assert line.head == 0
    assert [line.take() for _ in range(3)] == [0, 2, 3]
