"""Places side by side: who lost messages, how many, how long each was out, what is proved."""

import re
from dataclasses import replace
from pathlib import Path

from harness.claims.claims import read_claims
from harness.judging.result import CellTitle, Report, RunReport
from harness.plan.model import Skipped
from harness.report import html
from harness.report.page.cells import cells
from harness.report.page.columns import PLACES_MAX
from harness.report.page.headline import ONE_RUN
from harness.report.page.measures import measure_text
from harness.report.page.outs import SHORTER
from harness.report.page.places import RETURNED
from harness.report.page.side_by_side import Field, SideBySideView, side_by_side
from harness.report.page.totals import RunTotals
from spark_analysis.schema.facts import QueueEnd
from spark_analysis.schema.service import NEVER, QUEUE, UNDO
from spark_analysis.schema.words import LEVELS, Level
from tests.rigs.runs.findings import Story, verdicts_of
from tests.rigs.runs.judged_runs import WARNING, crash, judged_run, page_of, summed
from tests.rigs.runs.reports import CELL, compared, run

RABBIT = CELL
SYNC = (CELL[0], "rocketmq-2m2s", "colocated@T=10", "rocketmq-java-5.3.3")
ASYNC = (CELL[0], "rocketmq-2m2s", "colocated-async@T=10", "rocketmq-java-5.3.3")
TITLES = {
    RABBIT: CellTitle("The master is killed", "RabbitMQ 3.10 with mirrors", "A mirror everywhere"),
    SYNC: CellTitle("The master is killed", "RocketMQ, in pairs", "A confirm waits for a slave"),
    ASYNC: CellTitle("The master is killed", "RocketMQ, in pairs", "A confirm waits for no slave"),
}
LOST = Story().count("lost", "stored", 37)
PROMISES = """
[[claim]]
name = "nothing-is-lost"
sentence = "Nothing is lost."
source = "test"
quantifier = "all"
predicate = ["lost == 0"]

[[claim]]
name = "nothing-is-corrupt"
sentence = "Nothing is corrupt."
source = "test"
quantifier = "all"
predicate = ["corrupt == 0"]
"""
STRANDED = Story().count("stranded", "replicated", 5_402)
LATE = "messages due from the first fault on were late"
BRIEF = Story().outage(12, 12.5)
STALLED = Story().doubt("availability", "stalled", window=1, worker=1)
UNDRAINED = Story().count("loss_unknown", "drain", 3).doubt("loss", "drain", queue="orders")


def of(*runs: RunReport, **changes: object) -> SideBySideView:
    made = page_of(*runs, **{"titles": TITLES, **changes})
    found = view(made)
    assert found is not None
    return found


def view(made: Report) -> SideBySideView | None:
    return side_by_side(made, cells(made), RunTotals(made.runs))


def field(story: Story) -> Field:
    return of(summed(story), summed(Story(), cell=SYNC)).rows[0].fields[0]


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def said(found: SideBySideView, place: int) -> str:
    return plain(" ".join(found.verdicts[place].sentences))


def test_headline_states_each_loss_and_its_system() -> None:
    three = (summed(LOST), summed(Story(), cell=SYNC), summed(UNDRAINED, cell=ASYNC))
    assert of(*three).headline == (
        "A (RabbitMQ 3.10) lost 37 messages that it had confirmed, in 1 of 1 run; B lost none; "
        "for C, loss is not decided"
    )
    two = (summed(Story()), summed(STRANDED, cell=SYNC))
    assert of(*two).headline == (
        "B (RocketMQ) stranded 5,402 messages that it had confirmed, in 1 of 1 run; A lost none"
    )
    assert of(summed(Story()), summed(Story(), cell=SYNC)).headline == (
        "None of them lost a message that it had confirmed, and none had a downtime"
    )


def test_without_losses_the_headline_compares_downtime() -> None:
    hung = Story().outage(12, 60, NEVER)
    four = [
        summed(story, cell=(*CELL[:3], client))
        for client, story in {"pika": Story(), "amqplib": hung, "bunny": BRIEF}.items()
    ]
    found = of(*four, summed(STALLED, cell=(*CELL[:3], "java")))
    assert plain(found.headline) == (
        "B (amqplib) had at least 48.0 s of downtime; C (bunny) 0.500 s; A none; "
        "D: unknown; none lost a confirmed message"
    )
    assert [one.edge for one in found.verdicts] == ["pass", "out", "out", "pass"]
    assert found.sure == ONE_RUN
    twice = [summed(Story(), repeat=n, cell=SYNC) for n in (1, 2)]
    assert of(summed(BRIEF), *twice).sure == (
        "Too few runs to compare downtimes: 1 run of A against 2 of B (master-crash). "
        "The times below are those of these runs only."
    )


def test_faults_of_different_length_stand_beside_the_downtime() -> None:
    short = Story().steady().window(1, "kill", lasts=10)
    found = of(summed(BRIEF), summed(short, cell=SYNC), summed(Story(), cell=ASYNC))
    assert plain(found.headline) == (
        "A (RabbitMQ 3.10) had 0.500 s of downtime (fault: 15 s); B and C none; "
        "none lost a confirmed message"
    )
    found = of(summed(BRIEF), summed(short, cell=SYNC))
    assert "; B none (fault: 10 s); " in plain(found.headline)
    for_ever = Story().steady().window(1, "kill", lasts=None)
    assert "fault:" not in of(summed(BRIEF), summed(for_ever, cell=SYNC)).headline


def test_first_screen_counts_messages_never_sent_and_a_backlog_at_the_end() -> None:
    story = Story().outage(12, 20).count("state", "not_sent", 9)
    story.stage("backlog_drained", 48, reached=False)
    first = of(summed(story), summed(Story(), cell=SYNC)).verdicts[0]
    assert plain(first.late) == f"12 of 4,500 {LATE} (0.3 %; 9 never sent)"
    text = "When the load ended, consumers had not received"
    assert f"{text} all confirmed messages (backlog)." in first.sentences
    kept_away = of(summed(story.count("excused", "", 9)), summed(Story(), cell=SYNC)).verdicts[0]
    assert "never sent" not in kept_away.late


def test_difference_is_reported_only_if_its_interval_excludes_zero() -> None:
    many = [summed(Story().outage(12, 20 + n), repeat=n, cell=RABBIT) for n in range(1, 6)]
    few = [summed(Story().outage(12, 13), repeat=n, cell=SYNC) for n in range(1, 6)]
    same = [summed(Story().outage(12, 20 + n), repeat=n, cell=SYNC) for n in range(5)]
    assert plain(of(*many, *few).sure) == (
        "Beyond chance, A had more downtime than B, by 8.00 s to 12.0 s "
        "(95 %; 5 runs of A against 5 of B (master-crash))."
    )
    assert of(*many, *same).sure.startswith("Downtime: no difference shown beyond")
    assert of(summed(Story()), summed(Story(), cell=SYNC)).sure == ""


def test_loss_frequency_is_compared_by_runs_not_by_messages() -> None:
    def sure(runs: int) -> str:
        lost = [summed(LOST, repeat=n) for n in range(1, runs + 1)]
        kept = [summed(Story(), repeat=n, cell=SYNC) for n in range(1, runs + 1)]
        return plain(of(*lost, *kept).sure)

    assert sure(3) == (
        "A lost messages in 3 of 3 runs, B in 0 of 3 runs (master-crash). "
        "With so few runs, this difference is not statistically significant (95 % level): "
        "increase --repeats."
    )
    assert sure(6) == (
        "Beyond chance, A lost more often than B, by 45 % to 100 % of runs (95 %): "
        "in 6 of 6 runs against 0 of 6 runs (master-crash)."
    )
    assert of(summed(LOST), summed(LOST, cell=SYNC)).sure == ""
    assert of(summed(LOST), summed(UNDRAINED, cell=SYNC)).sure == "", "of one it is not known"


def test_a_cell_without_loss_still_shows_its_downtime() -> None:
    out, fine = of(summed(BRIEF), summed(Story(), cell=SYNC)).rows[0].fields
    assert [(one.tone, one.edge) for one in (out, fine)] == [("pass", "out"), ("pass", "pass")]
    assert field(LOST).edge == "fail"


def test_unavailable_queue_is_shown_beside_a_run_without_outage() -> None:
    story = Story().outage(20, 60, NEVER, scope=QUEUE, name="q7")
    more = QueueEnd("q7", True, True, "", ())
    story.facts = replace(story.facts, queues=(*story.facts.queues, more))
    one = field(story)
    assert (one.out, plain(one.worst)) == (
        "no downtime",
        "the worst of 2 queues (q7): ≥ 40.0 s, did not recover",
    )
    story.outage(12, 60, NEVER)  # the whole has more than the part: nothing to explain
    assert plain(field(story).worst) == "the worst of 2 queues (q7): ≥ 40.0 s, did not recover"


def test_many_that_lost_are_counted() -> None:
    three = (summed(LOST), summed(STRANDED, cell=SYNC), summed(LOST, cell=ASYNC))
    assert of(*three).headline == (
        "3 of 3 lost or stranded messages that they had confirmed (A, B and C)"
    )


def test_verdict_reports_lost_of_confirmed_downtime_and_proof() -> None:
    found = of(summed(LOST), summed(Story(), repeat=2), summed(Story(), cell=SYNC))
    lost, out, returned, proved = found.verdicts[0].sentences
    assert lost == "None of the 37 lost messages is on any disk."
    assert plain(out) == "The longest time without any confirm in any run was 0.171 s."
    assert returned == RETURNED
    assert proved == "Faults verified, logs complete."
    first, second = found.verdicts
    assert (first.word, first.of) == ("37 lost", "of 42,800 messages")
    assert (first.loss_often, first.often) == ("lost in 1 of 2 runs", "downtime in 0 of 2 runs")
    assert plain(first.late) == f"24 of 9,000 {LATE} (0.3 %)"
    assert (second.word, second.of, second.loss_often) == ("0 lost", "of 21,400 messages", "")
    assert first.tried == "2 runs of 1 scenario"
    (median,) = first.medians
    assert (median[0], plain(median[1]), median[2]) == ("master-crash", "0.00 s", "2 of 2 runs")
    assert second.medians == ()


def test_proof_counts_logs_if_one_is_incomplete() -> None:
    one = summed(Story(), cell=SYNC)
    assert one.summary is not None
    cut = replace(one, summary=replace(one.summary, logs_of=3, logs_closed=2))
    assert "2 of 3 logs of publishers and consumers complete." in said(of(summed(Story()), cut), 1)


def test_a_stranded_message_is_distinguished_from_a_lost_one() -> None:
    both = Story().count("lost", "stored", 1).count("stranded", "stored", 4)
    two = said(of(summed(both), summed(Story(), cell=SYNC)), 0)
    assert two.startswith("1 is lost for good, 4 are stranded, still on a disk where no client")
    assert "lost for good, 4 are stranded, still on a disk" in two
    assert "All 5,402 are stranded" in said(of(summed(STRANDED), summed(Story(), cell=SYNC)), 0)


def test_messages_that_are_only_lost_are_on_no_disk() -> None:
    many = said(of(summed(LOST), summed(Story(), cell=SYNC)), 0)
    assert many.startswith("None of the 37 lost messages is on any disk. ")
    one = said(of(summed(Story().count("lost", "stored", 1)), summed(Story(), cell=SYNC)), 0)
    assert one.startswith("The lost message is on no disk. ")


def test_messages_of_unknown_fate_are_counted_and_not_called_safe() -> None:
    found = of(summed(UNDRAINED), summed(Story(), cell=SYNC))
    verdict = found.verdicts[0]
    assert (verdict.tone, verdict.sign, verdict.word) == ("open", "?", "no loss found")
    assert "No loss was found among the 21,400 messages that it had confirmed, in 1 run; of 3 more"
    assert said(found, 0).startswith("Whether 3 more messages are lost cannot be decided. ")
    assert "Not everything is decided: loss is decided in 0 of 1 run" in said(found, 0)


def test_run_with_unknown_outage_makes_the_longest_a_lower_bound() -> None:
    found = of(summed(BRIEF), summed(STALLED, repeat=2), summed(STALLED, cell=SYNC))
    known, unknown = found.verdicts
    assert plain(known.out) == "≥ 0.500 s"
    assert known.often == "downtime in 1 of 1 run"
    assert known.medians[0][2] == "1 of 2 runs"
    assert unknown.out == "unknown"
    assert (unknown.medians, unknown.unknown) == ((), ("master-crash",))
    assert "Among the reasons: publisher 1 stalled 140 ms" in said(found, 1)


def test_few_runs_with_an_outage_do_not_represent_all() -> None:
    stalled = [summed(STALLED, repeat=number) for number in (2, 3)]
    found = of(summed(BRIEF), *stalled, summed(Story(), cell=SYNC))
    verdict = found.verdicts[0]
    assert verdict.out == "? mostly unknown"
    assert plain(verdict.out_known) == "≥ 0.500 s, decided in 1 of 3 runs"


def test_an_unjudged_cell_shows_no_number() -> None:
    lost = run(Story(), cell=SYNC, verdicts=(), failure="no cluster")
    found = of(summed(Story()), lost)
    verdict = found.verdicts[1]
    assert (verdict.tone, verdict.word, verdict.out) == ("open", "not judged", "not judged")
    assert said(found, 1) == "Nothing was judged in 1 run: no cluster."
    empty = found.rows[0].fields[1]
    assert (empty.sign, empty.loss, empty.of, empty.out) == ("?", "not judged", "", "")
    assert (empty.proved, empty.drawn) == ("0 of 1 run judged", False)
    assert found.headline.endswith("A lost none; for B, loss is not decided")
    neither = run(Story(), verdicts=(), failure="no cluster")
    assert of(neither, lost).headline == "No run was judged"


def test_a_field_says_lost_out_late_and_proved() -> None:
    one = field(Story().count("lost", "stored", 3).outage(12, 12.5))
    assert (one.tone, one.sign, one.loss, one.of) == (
        "fail",
        "✗",
        "3 lost",
        "of 21,400; loss in 1 of 1 run",
    )
    assert (plain(one.out), one.median, plain(one.late)) == (
        "downtime 0.500 s",
        "",
        f"12 of 4,500 {LATE} (0.3 %)",
    )
    assert (one.proved, one.whole) == ("loss and downtime decided in 1 of 1 run", True)


def test_late_confirms_are_distinguished_from_silence() -> None:
    half = Story().silence(0.19).outage(12, 32.2).missed(900)
    one = field(half)
    assert (plain(one.out), plain(one.silent), plain(one.late)) == (
        "downtime 20.2 s",
        "0.190 s",
        f"900 of 4,500 {LATE} (20 %)",
    )
    comparison = of(summed(half), summed(Story(), cell=SYNC))
    assert plain(comparison.verdicts[0].out) == "20.2 s"
    assert "The longest time without any confirm was 0.190 s. " in said(comparison, 0)
    assert SHORTER not in said(comparison, 0)
    assert plain(comparison.verdicts[0].late) == f"900 of 4,500 {LATE} (20 %)"
    assert plain(comparison.rows[0].fields[1].silent) == "0.171 s"


def test_late_messages_after_the_next_fault_belong_to_it() -> None:
    two = Story().missed(1).window(2, "kill", opens=30).stage("sustained_success", 9, window=2)
    assert plain(field(two.affect("missed", "", 1, 31.0)).late) == f"13 of 9,000 {LATE} (0.1 %)"


def test_loss_is_shown_with_the_return_of_all_disks() -> None:
    """State beside the loss that all hosts returned with their disks."""

    def returned(story: Story) -> bool:
        found = of(summed(story), summed(Story("hang"), cell=SYNC))  # a link is no host
        assert RETURNED not in found.verdicts[1].sentences
        return RETURNED in found.verdicts[0].sentences

    assert returned(Story())
    gone = Story().window(2, "kill", opens=30, lasts=None)
    wiped = Story(operations=2, lost_disk="first stopped")
    for other in (gone, wiped, Story(operations=2), Story().unverified("it runs")):
        assert not returned(other)
    assert returned(Story(operations=2, lost_disk="none"))


def test_timers_of_a_place_are_shown_beside_product_defaults() -> None:
    usual = (SYNC[0], SYNC[1], "colocated@default", SYNC[3])
    own = (SYNC[0], SYNC[1], "ours@compressed", SYNC[3])
    comparison = of(
        summed(Story("freeze")),
        summed(
            Story("freeze", detection_timeout_s=20.0, route_poll_s=5),
            cell=(*SYNC[:2], "colocated@x", SYNC[3]),
        ),
        summed(Story("freeze", detection_timeout_s=120.0, route_poll_s=30), cell=usual),
        summed(Story("freeze", detection_timeout_s=20.0, route_poll_s=5), cell=own),
        summed(
            Story("freeze", detection_timeout_s=None),
            cell=("master-crash", "reference-mirrored", "a@T=10", "pika"),
        ),
    )
    timers = [one.place.timers for one in comparison.verdicts]
    assert [re.findall(r"\d+ s", text) for text in timers] == [
        ["10 s", "60 s"],
        ["20 s", "120 s", "5 s", "30 s"],
        ["120 s", "30 s"],
        ["20 s", "5 s"],
        [],
    ]
    assert [text.count("as shipped") for text in timers] == [1, 2, 2, 0, 0]


def test_a_detection_timeout_is_shown_for_faults_that_wait_for_it() -> None:
    raft = (SYNC[0], SYNC[1], "one-group@x", SYNC[3])
    comparison = of(
        summed(Story("kill", detection_timeout_s=10.0)),
        summed(
            Story("kill", detection_timeout_s=20.0, route_poll_s=5),
            cell=(*SYNC[:2], "colocated@x", SYNC[3]),
        ),
        summed(Story("freeze", detection_timeout_s=20.0, elects_by_majority=True), cell=raft),
    )
    timers = [one.place.timers for one in comparison.verdicts]
    assert timers[0] == timers[2] == ""
    assert timers[1].startswith("clients poll routes every 5 s")


def test_unconfirmed_warning_is_no_broken_promise() -> None:
    warned = read_claims(WARNING, "claims of a test")
    verdicts = verdicts_of(warned, Story().evidence)
    one = of(summed(Story(), verdicts=verdicts), summed(Story(), cell=SYNC)).rows[0].fields[0]
    assert one.claims == "1 warning did not come true"


def test_a_cell_says_how_many_promises_were_broken_and_kept() -> None:
    claims = read_claims(PROMISES, "claims of a test")
    broken, kept = (
        of(summed(story, verdicts=verdicts_of(claims, story.evidence)), summed(Story(), cell=SYNC))
        for story in (LOST, Story())
    )
    assert broken.rows[0].fields[0].claims == "1 promise broken; 1 promise kept"
    assert kept.rows[0].fields[0].claims == "2 promises kept"


def test_the_first_screen_of_a_comparison_names_the_broken_promise() -> None:
    claims = read_claims(PROMISES, "claims of a test")

    def first(story: Story) -> str:
        places = ((story, CELL), (Story(), SYNC))
        runs = [summed(s, cell=c, verdicts=verdicts_of(claims, s.evidence)) for s, c in places]
        return html.text(page_of(*runs, titles=TITLES)).partition("<figure")[0]

    assert "<b>Broken promise:</b> “Nothing is lost.” (in cell A)</p>" in first(LOST)
    assert "Broken promise" not in first(Story())


def test_a_scenario_of_one_place_only_is_shown_beside_a_blank() -> None:
    cut = ("cut-one-node", *RABBIT[1:])
    rows = (compared(RABBIT, "silence", 1e9), compared(cut, "silence", 2e9))
    runs = (summed(Story()), summed(Story(), cell=cut), summed(Story(), cell=SYNC))
    whole, alone = of(*runs, comparison=rows).measures.groups
    assert [whole.scenario, alone.scenario] == ["master-crash", "cut-one-node"]
    assert alone.runs == ("1 run", None)
    ((known, blank),) = [line.values for line in alone.lines]
    assert known is not None and plain(known.text) == "2.00 s"
    assert blank is None


def test_field_with_caveats_shows_its_proof_and_no_bar() -> None:
    one = field(STALLED)
    assert (one.loss, one.out, one.late) == ("0 lost", "downtime: unknown", "late: not decided")
    assert (one.proved, one.whole) == ("decided: loss in 1, outage in 0 of 1 run", False)
    assert not one.drawn
    unseen = field(Story().unverified("the process still runs"))
    assert unseen.tone == "open"
    assert unseen.proved == "decided: loss in 0, outage in 0 of 1 run; 0 of 1 fault seen"


def test_a_run_without_faults_shows_no_downtime() -> None:
    one = field(Story().steady())
    assert (one.out, one.late, one.drawn, one.proved) == (
        "",
        "",
        False,
        "loss and downtime decided in 1 of 1 run",
    )
    found = of(summed(Story().steady()), summed(Story().steady(), cell=SYNC))
    assert found.verdicts[0].out == "no fault"
    assert "Nothing was broken on purpose." in said(found, 0)
    assert "without faults" in found.lead


def test_an_outage_that_did_not_end_is_a_bound() -> None:
    one = field(Story().outage(27, 60, NEVER))
    assert plain(one.out) == "downtime ≥ 33.0 s, did not recover"
    assert (one.bound, one.left, one.width) == (True, 100.0, 0.0)
    undone = field(Story().outage(12, 27, UNDO))
    assert plain(undone.out) == "downtime ≥ 15.0 s"


def test_unplayed_field_is_blank_and_inapplicable_has_its_reason() -> None:
    cut = ("cut-one-node", *RABBIT[1:])
    skipped = (Skipped(("mirror-crash", *SYNC[1:]), "no mirror"),)
    found = of(
        summed(Story(), cell=cut),
        summed(Story()),
        summed(Story(), cell=SYNC),
        skipped=skipped,
    )
    rows = {row.scenario: [(one.tone, one.reason) for one in row.fields] for row in found.rows}
    assert list(rows) == ["master-crash", "cut-one-node", "mirror-crash"]  # shared ones first
    assert rows["cut-one-node"] == [("pass", 0), ("absent", 0)]
    assert rows["mirror-crash"] == [("absent", 0), ("not_applicable", 1)]
    assert found.reasons == ("no mirror",)
    assert "compare layouts only within one scenario" in found.lead


def test_place_to_which_nothing_applies_is_shown_with_that_note() -> None:
    skipped = (Skipped(ASYNC, "no such client"),)
    found = of(summed(Story()), summed(Story(), cell=SYNC), skipped=skipped)
    verdict = found.verdicts[2]
    assert (verdict.tone, verdict.sign, verdict.word, verdict.out) == (
        "not_applicable",
        "–",
        "does not apply",
        "–",
    )
    assert said(found, 2).startswith("None of these scenarios applies to it")
    assert found.rows[0].fields[2].reason == 1
    assert [row.fields[2].text for row in found.loss_by_strength.ends] == ["not judged", "none"]


def test_layouts_of_one_system_are_adjacent_and_described() -> None:
    found = of(summed(Story(), cell=SYNC), summed(Story()), summed(Story(), cell=ASYNC))
    places = [(one.place.letter, one.place.key[1], one.place.layout) for one in found.verdicts]
    assert places == [
        ("A", "colocated@T=10", "A confirm waits for a slave"),
        ("B", "colocated-async@T=10", "A confirm waits for no slave"),
        ("C", "all-automatic@T=10", "A mirror everywhere"),
    ]


def test_a_column_does_not_say_twice_what_it_is() -> None:
    found = of(summed(Story()), summed(Story(), cell=SYNC)).verdicts
    assert [(one.place.name, one.place.about) for one in found] == [
        ("RabbitMQ 3.10", "With mirrors. A mirror everywhere"),
        ("RocketMQ", "A confirm waits for a slave"),
    ]


def test_loss_by_strength_says_what_it_is_of() -> None:
    weak = Story().count("confirmed", "replicated", 21_000).count("confirmed", "buffered", 400)
    weak.count("lost", "buffered", 7)
    found = of(summed(weak), summed(UNDRAINED, cell=SYNC)).loss_by_strength
    rows = {row.name: [(one.tone, one.text, one.of) for one in row.fields] for row in found.rows}
    assert rows["by all required replicas"] == [
        ("pass", "0 lost", "of 21,000"),
        ("open", "no loss found", "of 21,400"),
    ]
    assert rows["buffered"] == [("fail", "7 lost", "of 400"), ("absent", "none so confirmed", "")]
    undecided, runs = ([(one.tone, one.text, one.of) for one in row.fields] for row in found.ends)
    assert undecided == [("pass", "0", "of 21,400"), ("open", "3", "of 21,400")]
    rate = "lost in 1 of 1 run"
    assert runs == [("pass", "1", f"of 1 run; {rate}"), ("open", "0", "of 1 run")]


def test_the_meaning_of_a_level_is_that_of_its_system() -> None:
    ours, theirs = Story(), Story()
    own = (Level(1, "replicated", "a quorum had it on its disks"),)
    theirs.facts = replace(theirs.facts, levels=own)
    alone = of(summed(ours), summed(ours, cell=SYNC)).loss_by_strength.rows[0]
    assert alone.meanings == (LEVELS[0].meaning,)
    both = of(summed(ours), summed(theirs, cell=SYNC)).loss_by_strength.rows[0]
    assert both.meanings == (f"A: {LEVELS[0].meaning}", "B: a quorum had it on its disks")


def test_measure_shows_its_range_and_number_of_runs() -> None:
    rows = (
        compared(RABBIT, "silence", 171e6, judged=4),
        compared(SYNC, "silence", None),
        compared(RABBIT, "degraded", 2e9, bounds=1),
    )
    found = of(summed(Story()), summed(Story(), cell=SYNC), comparison=rows)
    (group,) = found.measures.groups
    silence, degraded = group.lines
    known, unknown = silence.values
    assert known is not None and unknown is not None
    assert plain(known.text) == "0.171 s"
    assert plain(known.range) == "0.086 s – 0.342 s, 4 of 5 judged"
    assert (unknown.known, unknown.text) == (False, "not decided in any of 5 runs")
    stalled = summed(Story().doubt("availability", "stalled", window=1, worker=1))
    text = measure_text(compared(RABBIT, "missed", None), [stalled]).median
    assert text == "not decided in any of 5 runs (mqproof stalled)"
    bound, missing = degraded.values
    assert bound is not None and bound.bar and bound.bar.bound and bound.text.startswith("≥ ")
    assert missing is None
    assert group.runs == ("1 run", "1 run")


def test_a_table_explains_only_the_rows_that_it_shows() -> None:
    rows = (compared(RABBIT, "silence", 171e6), compared(SYNC, "degraded", 0.0))
    found = of(summed(Story()), summed(Story(), cell=SYNC), comparison=rows)
    assert [name for name, _ in found.measures.meanings] == ["longest time without a confirm"]


def test_step_reached_in_no_run_has_no_time_or_scale() -> None:
    rows = (
        compared(RABBIT, "route_changed", 40e9, bounds=5),
        compared(RABBIT, "first_success", 2e9, minimum=2e9, maximum=4e9),
        compared(SYNC, "first_success", 4e9, minimum=2e9, maximum=40e9, bounds=4),
    )
    found = of(summed(Story()), summed(Story(), cell=SYNC), comparison=rows)
    (group,) = found.measures.groups
    route, confirm = (line.values[0] for line in group.lines)
    assert route is not None and confirm is not None
    assert (plain(route.text), plain(route.range), route.bar) == (
        "not before the load ended (20.0 s)",
        "",
        None,
    )
    assert confirm.bar is not None
    assert (plain(confirm.text), confirm.bar.left) == ("2.00 s", 5.0)
    some_reached_it = group.lines[1].values[1]
    assert some_reached_it is not None and some_reached_it.bar
    assert plain(some_reached_it.text) == "≥ 4.00 s"


def test_duplicates_are_reported_by_cause_and_zeros_in_words() -> None:
    rows = (
        compared(RABBIT, "duplicated", 9.0, unit="deliveries"),
        compared(RABBIT, "duplicated", 9.0, detail="publisher_retry", unit="deliveries"),
        compared(RABBIT, "duplicated", 0.0, detail="stored_twice", unit="deliveries"),
        compared(RABBIT, "corrupt", 0.0, unit="deliveries"),
    )
    found = of(summed(Story()), summed(Story(), cell=SYNC), comparison=rows).measures
    assert [line.name for line in found.groups[0].lines] == [
        "delivered more than once",
        "delivered more than once: sent again by its publisher",
    ]
    assert found.zero == ("corrupt",)


def test_times_stand_above_counts() -> None:
    rows = (
        compared(RABBIT, "duplicated", 9.0, unit="deliveries"),
        compared(RABBIT, "silence", 171e6),
    )
    found = of(summed(Story()), summed(Story(), cell=SYNC), comparison=rows).measures
    assert [line.name for line in found.groups[0].lines] == [
        "longest time without a confirm",
        "delivered more than once",
    ]


def test_comparison_needs_two_places_and_no_more_than_columns() -> None:
    assert view(page_of(summed(Story()), summed(Story(), cell=("cut", *CELL[1:])))) is None
    many = [
        summed(Story(), cell=(CELL[0], CELL[1], f"layout-{number}", CELL[3]))
        for number in range(PLACES_MAX + 1)
    ]
    assert view(page_of(*many)) is None
    assert view(page_of(*many[1:])) is not None


def test_columns_with_different_detection_timeouts_say_so(tmp_path: Path) -> None:
    first, second = (
        judged_run(tmp_path / name, crash(), cell=cell)
        for name, cell in (("a", RABBIT), ("b", SYNC))
    )
    for one, timeout_s in ((first, 10), (second, 60)):
        assert one.detail is not None
        one.detail.manifest.state["detection_timeout_s"] = timeout_s
    text = of(first, second).conditions.replace("\u00a0", " ")
    assert text.startswith(
        "A ran with a detection timeout of 10 s and B with a detection timeout of"
    )
    assert "; faults lasted " in text and text.endswith("use the same timeout.")
    assert second.detail is not None
    second.detail.manifest.state["detection_timeout_s"] = 10
    assert of(first, second).conditions == ""
