"""The drawing of a timeline: places, paths and sentences."""

import re
from dataclasses import replace
from pathlib import Path

from harness.claims.judge import ClaimOutcome
from harness.report.charts.chart import Chart
from harness.report.charts.scale import Span
from harness.run_folder.replica_looks import ReplicaLook
from harness.run_folder.rows import Resource
from harness.view.costs import use_over_time
from harness.view.routes import RouteRow, Routes
from harness.view.summary import Number, Out, summary
from harness.view.timeline import Timeline
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.service import PUBLISHER as OF_PUBLISHER
from spark_analysis.schema.service import RUN, SYSTEM, Outage
from spark_analysis.schema.words import RecoveredBy
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History
from tests.rigs.histories.watching import ALL, MASTER, OTHER, SLAVE, looks
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import crash, judged_run

FIRST = "first confirm of a new message"
S = 1_000_000_000


def timeline_of(tmp_path: Path, history: History) -> Timeline:
    detail = judged_run(tmp_path / "run", history).detail
    assert detail is not None
    return detail.timeline


def chart_of(tmp_path: Path, history: History) -> Chart:
    return Chart(timeline_of(tmp_path, history))


def test_a_fault_stands_where_it_was_issued_and_undone(tmp_path: Path) -> None:
    drawn = chart_of(tmp_path, crash())
    (fault,) = drawn.faults
    (held,) = fault.held
    assert (held.left, held.width) == (30.0, 37.5)  # +12 s to +27 s of 40 s
    assert (held.tone, held.text) == ("held", "kill rmq1")
    (span,) = fault.requested
    assert (span.left, span.width, span.text) == (
        30.0,
        37.5,
        "kill master of orders",
    )


def test_a_fault_that_was_not_verified_looks_and_reads_otherwise(tmp_path: Path) -> None:
    story = History(load_ms=(0, 40_000)).window(12_000, ended_ms=27_000, verified=False)
    (fault,) = chart_of(tmp_path, story.flow(range(100), from_ms=0, every_ms=300)).faults
    (held,) = fault.held
    assert held.tone == "doubted"
    assert "not verified" in held.title


def test_a_fault_that_never_ended_reaches_to_the_end(tmp_path: Path) -> None:
    story = History(load_ms=(0, 40_000)).window(30_000, never_ended=True)
    (fault,) = chart_of(tmp_path, story.flow(range(100), from_ms=0, every_ms=300)).faults
    (held,) = fault.held
    assert (held.left, held.width) == (75.0, 25.0)
    assert "never undone" in held.title


def test_missed_publishes_are_drawn_from_the_top(tmp_path: Path) -> None:
    story = History(load_ms=(0, 2_000)).flow(range(10), from_ms=0, every_ms=100)
    story.flow(range(10, 20), from_ms=1_000, every_ms=100, confirm_after_ms=None)
    on_time = chart_of(tmp_path, story).plots[0]
    paths = {tone: path for tone, _, path in on_time.lines}
    assert paths == {
        "good": "M0.0 100V0.0H500.0V100ZM500.0 100V100.0H1000.0V100Z",
        "bad": "M500.0 0V100.0H1000.0V0Z",
    }


def test_latency_scale_spans_whole_powers_of_ten(tmp_path: Path) -> None:
    story = History(load_ms=(0, 2_000)).flow(range(10), from_ms=0, every_ms=100)
    story.flow(range(10, 20), from_ms=1_000, every_ms=100, confirm_after_ms=300)
    plot = chart_of(tmp_path, story).plots[-1]
    assert (plot.bottom, [tick.text for tick in plot.middle], plot.top) == (
        "1 ms",
        ["10 ms", "100 ms"],
        "1 s",
    )
    p99, _ = plot.lines
    assert p99[2] == "M0.0 100.0H333.3V17.4H666.7"  # 300 ms are 2.48 of 3 powers up


def test_a_curve_is_broken_where_nothing_was_confirmed(tmp_path: Path) -> None:
    story = History(load_ms=(0, 3_000)).flow(range(5), from_ms=0, every_ms=10)
    story.flow(range(5, 10), from_ms=1_000, every_ms=10, confirm_after_ms=None)
    story.flow(range(10, 15), from_ms=2_000, every_ms=10)
    p50 = chart_of(tmp_path, story).plots[-1].lines[1][2]
    assert p50.count("M") == 2


def test_at_rate_max_there_is_no_success_to_draw(tmp_path: Path) -> None:
    story = History(paced=False).flow(range(100), from_ms=0, every_ms=30)
    assert [plot.name for plot in chart_of(tmp_path, story).plots] == [
        "messages a second",
        "latency of a confirm",
    ]


def test_without_confirms_there_is_no_latency_to_draw(tmp_path: Path) -> None:
    story = History(confirms=False).flow(range(100), from_ms=0, every_ms=30, confirm_after_ms=None)
    names = [plot.name for plot in chart_of(tmp_path, story).plots]
    assert "latency of a confirm" not in names


def test_a_stage_reaches_from_the_fault_to_its_instant(tmp_path: Path) -> None:
    lanes = {lane.name: lane.spans[0] for lane in chart_of(tmp_path, crash()).stages}
    assert lanes[FIRST].left == 30.0
    assert lanes[FIRST].text.endswith(" s")
    assert lanes[FIRST].tone == "reached"


def test_stage_of_a_window_with_caveats_is_drawn_unjudged(tmp_path: Path) -> None:
    for name, story in (
        ("fault", crash().window(30_000, ended_ms=31_000, verified=False)),
        ("stall", crash().stall(1, at_ms=13_000, late_ms=200)),
    ):
        detail = judged_run(tmp_path / name, story).detail
        assert detail is not None
        lanes = {lane.name: lane.spans[0] for lane in Chart(detail.timeline).stages[:4]}
        first = lanes[f"{FIRST}, fault 1" if name == "fault" else FIRST]
        assert first.tone == "doubted"
        assert first.text.endswith(", not judged")


def test_a_bound_near_zero_is_not_measured_even_under_a_caveat(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, crash())
    stage = Stage("run", 1, "first_success", False, 0, 0, RecoveredBy.SYSTEM)
    fault = replace(timeline.faults[0], stages=(stage,), stages_doubt="the host was busy")
    (lane,) = Chart(replace(timeline, faults=(fault,))).stages
    assert (lane.spans[0].text, lane.spans[0].tone) == ("not measured", "doubted")


def test_a_fault_without_late_messages_needs_no_recovery(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, crash(lost=[250]))
    stage = Stage("run", 1, "sustained_success", False, 0, 0, RecoveredBy.SYSTEM)
    fault = replace(timeline.faults[0], stages=(stage,))
    slices = (*timeline.slices, replace(timeline.slices[-1], from_s=39, operations=9, missed=9))
    timeline = replace(timeline, faults=(fault,), slices=slices)
    (outage,) = summary(Story().missed(0).evidence).outages
    for outages, text in (
        ((outage,), "no message was late"),
        ((replace(outage, missed=Number(9, True)),), "not measured"),
    ):
        (lane,) = Chart(timeline, None, outages).stages
        assert lane.spans[0].text == text


def test_only_steps_of_absent_consumers_are_drawn_unjudged(tmp_path: Path) -> None:
    drawn = chart_of(tmp_path, crash().away(CONSUMER, 13_000, 14_000))
    unjudged = {one.name for one in drawn.stages if one.spans[0].text.endswith(", not judged")}
    assert unjudged == {"first delivery of a new message", "backlog gone for good"}


def test_every_slice_says_its_numbers(tmp_path: Path) -> None:
    drawn = chart_of(tmp_path, crash())
    assert drawn.hits[0].title == (
        "+0 s; 20 of 20 on time; 20 confirmed, 20 delivered; "
        "half within 2.0 ms, 99 % within 2.0 ms"
    )


def test_nothing_is_drawn_outside_the_time_axis(tmp_path: Path) -> None:
    story = crash(lost=range(100, 120))
    story.client_event("lost", at_ms=90_000)
    drawn = chart_of(tmp_path, story)
    spans = [*drawn.phases]
    spans += [span for row in drawn.faults for span in (*row.requested, *row.held)]
    spans += [span for lane in (*drawn.stages, *drawn.lanes) for span in lane.spans]
    assert all(0 <= span.left <= span.left + span.width <= 100.01 for span in spans)
    for plot in drawn.plots:
        numbers = [
            float(word) for _, _, path in plot.lines for word in re.findall(r"[\d.]+", path)
        ]
        assert all(0 <= number <= 1000 for number in numbers)


def test_a_run_in_which_nothing_happened_can_be_drawn(tmp_path: Path) -> None:
    drawn = chart_of(tmp_path, History(load_ms=(0, 0)))
    assert (drawn.plots, drawn.hits, drawn.faults) == ((), (), ())


def test_ticks_are_few_round_and_in_place(tmp_path: Path) -> None:
    ticks = chart_of(tmp_path, crash()).ticks
    assert [(tick.place, tick.text) for tick in ticks] == [
        (0.0, "+0 s"),
        (25.0, "+10 s"),
        (50.0, "+20 s"),
        (75.0, "+30 s"),
    ]


def test_affected_messages_stand_in_a_lane_of_their_own(tmp_path: Path) -> None:
    lanes = {lane.name: lane for lane in chart_of(tmp_path, crash(lost=[200, 201])).lanes}
    (span,) = lanes["sent then, lost later"].spans
    assert (span.left, span.title) == (25.0, "+10 s: 2 sent then, lost later")


def test_affected_messages_are_red_only_if_a_promise_is_broken(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, crash(lost=[200, 201]))
    found = {}
    for outcome in (*ClaimOutcome, None):
        drawn = Chart(timeline, outcome)
        (span,) = next(lane for lane in drawn.lanes if lane.name == "sent then, lost later").spans
        (key,) = (one for one in drawn.legend if (one.rows, one.tone) == ("marks", span.tone))
        found[outcome] = span.tone, key.text
    harmless = "harmless", "messages affected, no promise broken"
    undecided = "doubted", "messages affected; whether a promise is broken is not decided"
    assert found == {
        ClaimOutcome.FAIL: ("violation", "messages affected; see FAIL below for broken promises"),
        ClaimOutcome.INCONCLUSIVE: undecided,
        None: undecided,
        ClaimOutcome.PASS: harmless,
        ClaimOutcome.NOT_APPLICABLE: harmless,
    }


def test_harm_that_a_warning_predicted_has_a_tone_of_its_own(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, crash(lost=[200, 201]))
    found = {}
    for outcome in (*ClaimOutcome, None):
        drawn = Chart(timeline, outcome, predicted={"lost"})
        (span,) = next(lane for lane in drawn.lanes if lane.name == "sent then, lost later").spans
        (key,) = (one for one in drawn.legend if (one.rows, one.tone) == ("marks", span.tone))
        found[outcome] = span.tone, key.text
    predicted = "predicted", "messages affected: harm that a warning predicted"
    assert found[ClaimOutcome.INCONCLUSIVE] == found[ClaimOutcome.PASS] == predicted
    assert (found[ClaimOutcome.FAIL][0], found[None][0]) == ("violation", "doubted")


def test_name_server_views_are_a_chart_row_but_drainers_not(
    tmp_path: Path,
) -> None:
    story = looks(crash(), "ns1", range(400, 20_000, 400), *ALL)
    looks(story, "ns1", range(20_000, 39_000, 400), SLAVE, OTHER)
    for worker, at_ms, name_server in ((PUBLISHER, 500, "ns1"), (7, 45_000, "ns2")):
        story.client_event("attached", at_ms=at_ms, worker=worker)
        story.rows["client_events"][-1]["detail"] = name_server
    for at_ms, route in ((500, f"{MASTER}; {SLAVE}"), (24_000, SLAVE)):
        story.client_event("route", at_ms=at_ms, worker=PUBLISHER)
        story.rows["client_events"][-1]["detail"] = route
    drawn = chart_of(tmp_path, story)
    master = next(lane for lane in drawn.servers if lane.name == "ns1: broker-a master")
    assert [(span.tone, span.left) for span in master.spans] == [
        ("shown", 1.01),
        ("dropped", 50.01),
    ]
    assert [lane.name for lane in drawn.clients] == ["publisher-1"]
    believed = {lane.name: [span.tone for span in lane.spans] for lane in drawn.believed}
    assert believed == {
        "publisher-1: broker-a master": ["shown", "dropped"],
        "publisher-1: broker-a slave 1": ["shown"],
    }
    assert {lane.name for lane in drawn.stages} >= {
        "route changed (first name server)",
        "route changed (every name server)",
    }


def test_several_faults_have_own_rows_and_their_events_say_which(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, crash())
    (fault,) = timeline.faults
    assert [row.name for row in Chart(timeline).faults] == ["fault"]
    second = replace(fault, number=2, kind="partition", resolved="rmq2", requested_from_ns=None)
    drawn = Chart(replace(timeline, faults=(fault, second)))
    assert [row.name for row in drawn.faults] == ["fault 1", "fault 2"]
    assert [len(row.requested) for row in drawn.faults] == [1, 0]
    assert [row.held[0].text for row in drawn.faults] == ["kill rmq1", "partition rmq2"]
    names = [lane.name for lane in drawn.stages]
    assert f"{FIRST}, fault 1" in names
    assert f"{FIRST}, fault 2" in names


def test_every_tone_that_is_drawn_is_in_the_legend(tmp_path: Path) -> None:
    drawn = chart_of(tmp_path, crash())
    tones = {("force", span.tone) for fault in drawn.faults for span in fault.held}
    for rows, lanes in (
        ("outages", drawn.outs),
        ("stage", drawn.stages),
        ("marks", drawn.lanes),
    ):
        tones |= {(rows, span.tone) for lane in lanes for span in lane.spans}
    assert {("asked", "asked"), ("force", "held"), ("stage", "reached")} <= {
        (key.rows, key.tone) for key in drawn.legend
    }
    assert tones <= {(key.rows, key.tone) for key in drawn.legend}
    assert len({key.text for key in drawn.legend}) == len(drawn.legend)


def test_memory_and_disk_have_a_line_for_each_host(tmp_path: Path) -> None:
    story = History(load_ms=(0, 4_000)).flow(range(40), from_ms=0, every_ms=100)
    timeline = timeline_of(tmp_path, story)
    assert Chart(timeline).unknown == (
        "memory and disk of the brokers are unknown: nothing sampled them",
    )
    samples = [
        Resource(host, second * 1_000_000_000, memory * (1 + second), 1000 * second * second)
        for host, memory in (("rmq1", 1_000_000), ("rmq2", 500_000))
        for second in (0, 1, 3)
    ]
    drawn = Chart(replace(timeline, use=use_over_time(samples, 1)))
    memory, disk = drawn.plots[-2:]
    assert (memory.name, memory.top) == ("memory of brokers", "4.0 MB")
    assert [(tone, host) for tone, host, _ in memory.lines] == [
        ("host1", "rmq1"),
        ("host2", "rmq2"),
    ]
    assert memory.lines[0][2] == "M0.0 75.0H250.0V50.0H500.0M750.0 0.0H1000.0"
    assert disk.lines[0][2] == "M250.0 75.0H500.0M750.0 0.0H1000.0"
    assert drawn.unknown == ()


def test_late_messages_of_the_fault_s_slice_stand_after_the_fault(tmp_path: Path) -> None:
    story = History(load_ms=(0, 2_000)).window(750, ended_ms=1_000)
    story.flow(range(15), from_ms=0, every_ms=50)
    story.flow(range(15, 20), from_ms=750, every_ms=50, confirm_after_ms=None)
    story.flow(range(20, 40), from_ms=1_000, every_ms=50)
    drawn = chart_of(tmp_path, story)
    paths = {tone: path for tone, _, path in drawn.plots[0].lines}
    assert paths["bad"] == "M375.0 0V100.0H500.0V0Z"
    assert paths["good"].startswith("M0.0 100V0.0H375.0V100ZM375.0 100V100.0H500.0V100Z")
    late = "the late ones due from +0.750 s on (drawn as 100 % of the messages since then)"
    assert f"15 of 20 on time, {late}" in drawn.hits[0].title.replace("\u00a0", " ")


def test_late_messages_before_the_fault_keep_the_whole_slice(tmp_path: Path) -> None:
    story = History(load_ms=(0, 1_000)).window(750, ended_ms=1_000)
    story.flow([0], from_ms=0, every_ms=50, confirm_after_ms=None)
    story.flow(range(1, 20), from_ms=50, every_ms=50)
    paths = {tone: path for tone, _, path in chart_of(tmp_path, story).plots[0].lines}
    assert paths["bad"] == "M0.0 0V5.0H1000.0V0Z"


def test_the_first_late_message_bounds_its_slice(tmp_path: Path) -> None:
    story = History(load_ms=(0, 1_000)).window(750, ended_ms=1_000)
    story.flow(range(14), from_ms=0, every_ms=50)
    story.flow(range(14, 20), from_ms=700, every_ms=50, confirm_after_ms=None)
    paths = {tone: path for tone, _, path in chart_of(tmp_path, story).plots[0].lines}
    assert paths["bad"] == "M700.0 0V100.0H1000.0V0Z"


def test_lost_messages_stand_where_they_were_sent(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, crash(lost=[230]))
    (lane,) = [one for one in Chart(timeline).lanes if one.name.startswith("sent then")]
    assert (lane.name, lane.spans[0].title) == (
        "sent then, lost later",
        "+11 s: 1 sent then, lost later",
    )
    begun = replace(timeline, loaded_ns=(11_500_000_000, 40_000_000_000))
    (later,) = [one for one in Chart(begun).lanes if one.name.startswith("sent then")]
    assert later.spans[0].left > lane.spans[0].left


def test_a_failure_is_drawn_over_a_good_event(tmp_path: Path) -> None:
    story = crash().client_event("lost", at_ms=13_000).client_event("connected", at_ms=13_003)
    (lane,) = [one for one in chart_of(tmp_path, story).lanes if one.name == "client"]
    assert [span.tone for span in lane.spans] == ["fine", "bad"]


def test_the_serving_host_has_a_row_for_each_queue(tmp_path: Path) -> None:
    seen = [
        ReplicaLook("orders", 1 * S, 2 * S, "rmq1", ("rmq2",), ()),
        ReplicaLook("orders", 3 * S, 4 * S, "rmq1", ("rmq2",), ("rmq2",)),
        ReplicaLook("orders", 6 * S, 7 * S, "", ("rmq2",), None),
    ]
    (lane,) = Chart(replace(timeline_of(tmp_path, crash()), looks=tuple(seen))).serving
    assert lane.name == "master of orders"
    assert [(span.text, span.tone) for span in lane.spans] == [
        ("not queried", "unqueried"),
        ("rmq1", "shown"),
        ("not queried (last answer: rmq1)", "unqueried"),
        ("no master", "silent"),
        ("not queried (last answer: no master)", "unqueried"),
    ]
    assert lane.spans[2].title == "mqproof did not query the brokers from +4.000 s to +6.000 s"
    assert lane.spans[1].title == (
        "rmq1, from +1.000 s to +4.000 s; other copies: rmq2 (synchronised)"
    )


def test_a_request_that_waits_begins_when_the_wait_is_over(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, crash())
    first = replace(timeline.faults[0], requested_until_ns=27 * S)
    second = replace(first, number=2, requested_from_ns=28 * S, requested_until_ns=30 * S)
    _, row = Chart(replace(timeline, faults=(first, second))).faults
    assert first.gone is not None
    assert row.requested[0].left == round(100 * (first.gone.at_ns / S + 1) / 40, 2)
    assert "from the later of +28" in row.requested[0].title


def test_a_short_peak_does_not_flatten_the_load_due(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, crash())
    due = max(one.operations for one in timeline.slices)
    slices = [replace(one, delivered=due, confirmed=due) for one in timeline.slices]
    slices[-1] = replace(slices[-1], delivered=7 * due)
    (rates,) = (
        plot
        for plot in Chart(replace(timeline, slices=tuple(slices))).plots
        if plot.name == "messages a second"
    )
    assert rates.top == f"{3 * due:,}"
    assert [name for _, name, _ in rates.lines] == [f"delivered, up to {7 * due:,}", "confirmed"]
    assert re.match(r"M[\d.]+ 66\.7H", rates.lines[0][2])
    assert "V0.0" in rates.lines[0][2]


def test_words_stand_where_they_have_room() -> None:
    words = "kill master of orders"
    assert Span(10, 50, "asked", words).side == ""
    assert Span(60, 20, "asked", words).side == "flips"
    assert Span(3, 94, "asked", words).side == "covered"
    assert Span(10, 20, "shown", words).fits
    assert not Span(10, 3, "dropped", "dropped").fits


def test_a_publisher_that_only_repeats_the_run_has_no_row(tmp_path: Path) -> None:
    spell = Outage("r", RUN, "", 9 * S, 12 * S, SYSTEM, 60, 60, "1")
    run = Out(RUN, "", 1, 3.0, True, True, 1, (spell,))
    other = replace(run, scope=OF_PUBLISHER, name="2", of=2)
    timeline = replace(timeline_of(tmp_path, crash()), outs=(run, other))
    assert [lane.name for lane in Chart(timeline).outs] == ["downtime"]
    worse = replace(timeline, outs=(run, replace(other, seconds=4.0)))
    assert [lane.name for lane in Chart(worse).outs] == ["downtime", "publisher 2 downtime"]


def test_masters_that_name_servers_showed_are_drawn_once(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path, crash())
    looks = (ReplicaLook("orders", 1 * S, 2 * S, "rkt1", (), ()),)
    seen = replace(timeline, looks=looks)
    assert Chart(seen).serving
    assert Chart(replace(seen, routes=Routes(servers=(RouteRow("rkt2", ()),)))).serving == ()
