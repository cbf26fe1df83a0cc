"""report.html: the first screen's answers, escaping, and that it needs nothing else.

What a browser makes of it is in tests/browser.
"""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.claims.answers import Reason
from harness.claims.claims import read_claims
from harness.claims.judge import ClaimOutcome as Judged
from harness.claims.values import Why
from harness.judging.exits import Judge
from harness.judging.result import CellTitle, ClaimsFile, Piece, Report
from harness.plan.model import Skipped
from harness.report import html
from harness.view.detail import STORIES_OF_RUN_MAX
from spark_analysis.schema.facts import QueueEnd
from spark_analysis.schema.service import NEVER, QUEUE
from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import PUBLISHER, History
from tests.rigs.histories.resources import sample
from tests.rigs.histories.watching import MASTER
from tests.rigs.runs.findings import Story, verdicts_of
from tests.rigs.runs.judged_runs import (
    MEANING,
    SENTENCE,
    TITLE,
    WARNING,
    crash,
    judged_run,
    page_of,
    summed,
)
from tests.rigs.runs.reports import CELL, OTHER, SKIPPED, compared, run

EVIL = '<script>alert("x")</script>\x00\u202e&'
SHOWN = "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;\\x00\\u202e&amp;"


class Text(HTMLParser):
    """The words of a page as a reader gets them, its tags, and every address that it names."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        if self.get_starttag_text() is None or not data.lstrip().startswith(":root"):
            self.words.append(data)


def text(made: Report) -> str:
    return Text(html.text(made)).text


def judged(tmp_path: Path, *stories: History, **changes: object) -> Report:
    runs = (
        judged_run(tmp_path / f"run-{number}", story, repeat=number)
        for number, story in enumerate(stories, start=1)
    )
    titles = {
        CELL: CellTitle(
            TITLE, "RabbitMQ with mirrored queues", "A copy of every queue on every node"
        )
    }
    return page_of(*runs, titles=titles, **changes)


def test_the_first_screen_answers_four_questions(tmp_path: Path) -> None:
    said = text(judged(tmp_path, crash(lost=range(230, 237))))
    assert "FAILED 2 promises were broken" in said
    assert f"Which promise was broken? 2 of 3 “{MEANING}” “Publishers never wait" in said
    assert "Were messages lost? 7 lost of 800 confirmed" in said
    assert "How much downtime was there? no downtime downtime in 0 of 1 run longest time" in said
    assert "longest time without a confirm: 0.290 s" in said.replace("\u00a0", " ")
    assert (
        "Faults verified, logs complete? yes the fault was verified from outside, at its "
        "beginning and its end" in said
    )
    assert "both logs of publishers and consumers are complete" in said


def test_the_log_of_a_single_client_is_no_plural() -> None:
    one = summed(Story())
    assert one.summary is not None
    alone = replace(one, summary=replace(one.summary, logs_of=1, logs_closed=1))
    assert "the log of the only client is complete" in text(page_of(alone))
    cut = replace(one, summary=replace(one.summary, logs_of=1, logs_closed=0))
    assert "the log of the only client is not complete" in text(page_of(cut))


def test_headline_states_what_one_place_did_besides_broken_promises() -> None:
    lost = Story().count("lost", "stored", 3).count("stranded", "stored", 2).outage(12, 60, NEVER)
    said = text(page_of(summed(lost))).replace("\u00a0", " ")
    assert "it lost 3 confirmed messages, stranded 2 and had at least 48.0 s of downtime" in said
    undrained = Story().count("lost", "stored", 3).count("loss_unknown", "drain", 3)
    undrained.doubt("loss", "drain", queue="orders")
    assert "it lost at least 3 confirmed messages" in text(page_of(summed(undrained)))


def test_late_and_deadline_are_explained_where_they_first_stand(tmp_path: Path) -> None:
    said = text(page_of(judged_run(tmp_path / "run", crash()))).replace("\u00a0", " ")
    legend = "on time: confirmed within the deadline late: later, or never; the height is "
    assert said.index(legend) < said.index("(deadline ")
    deadline = "deadline How long after its due time a message may be confirmed and still be on"
    assert deadline in said
    late = "Late: not confirmed by its due time plus the deadline (1 s); also if it was"
    assert late in said


def test_downtime_of_several_runs_is_that_of_the_worst_run() -> None:
    twice = [summed(Story().outage(12, until), repeat=until) for until in (14, 20)]
    said = text(page_of(*twice)).replace("\u00a0", " ")
    assert "it had 8.00 s of downtime in its worst run" in said
    assert "How much downtime was there? 8.00 s in the worst run" in said
    assert "worst run: downtime 8.00 s" in said
    other = [summed(Story().outage(12, until), repeat=until, cell=OTHER) for until in (14, 20)]
    found = text(page_of(*twice, *other)).replace("\u00a0", " ")
    assert "had 8.00 s of downtime in its worst run" in found
    once = text(page_of(*twice[:1])).replace("\u00a0", " ")
    assert "worst run" not in once


def test_a_bound_is_reported_once() -> None:
    runs = [summed(Story().outage(12, 60 + n, NEVER), repeat=n) for n in (1, 2, 3)]
    said = text(page_of(*runs)).replace("\u00a0", " ")
    assert (
        "The downtime for publishers was ≥ 50.0 s in the median, ≥ 51.0 s at worst "
        "(downtime in 3 of 3 runs; 95 % CI: 29 to 100 %)" in said
    )
    assert "at least ≥" not in said and "or later" not in said


def test_a_claim_stands_with_what_its_runs_leave_possible() -> None:
    one = text(page_of(*(summed(Story(), repeat=n) for n in (1, 2, 3))))
    assert "✓ PASS violated in 0 of 3 runs (95 % one-sided bound: at most 63 %)" in one
    assert "✗ FAIL violated in 3 of 3 runs (95 % CI: 29 to 100 %)" in one
    uneven = text(page_of(summed(Story()), summed(Story(), repeat=2), summed(Story(), cell=OTHER)))
    assert "cell B violated in 0 of 1 run." in uneven


def test_the_first_visible_interval_is_spelled_out() -> None:
    said = text(page_of(*(summed(Story().outage(12, 20), repeat=n) for n in (1, 2, 3))))
    full = "95 % confidence interval (CI): 29 to 100 %"
    assert said.count(full) == 1 and said.index(full) < said.index("95 % CI")
    single = text(page_of(summed(Story())))
    assert "(CI)" not in single


def test_numbers_of_single_runs_have_neither_share_nor_range() -> None:
    """If each cell has one run, its badge says all."""
    rows = (compared(CELL, "silence", 171e6), compared(OTHER, "silence", 9e9))
    two = text(page_of(summed(Story()), summed(Story(), cell=OTHER), comparison=rows))
    assert "violated in 0 of 1 run" not in two and "Each value is of one run." in two
    assert "a bar spans from the smallest" not in two


def test_claims_that_do_not_apply_are_one_line() -> None:
    run = summed(Story())
    last = replace(
        run.verdicts[-1], outcome=Judged.NOT_APPLICABLE, claim="not_applicable", meaning="No."
    )
    made = html.text(page_of(replace(run, verdicts=(*run.verdicts, last))))
    shown, hidden = made.split('<details class="not_applicable_claims">')
    assert "2 more claims apply to no run of this report, with the reasons" in hidden
    assert (
        shown.count('class="mono">not_applicable<'),
        hidden.count('class="mono">not_applicable<'),
    ) == (0, 1)
    alone = replace(run, verdicts=tuple(v for v in run.verdicts if v.outcome is Judged.PASS))
    assert 'class="not_applicable_claims"' not in html.text(page_of(alone))


def test_later_outage_and_single_queue_outage_are_reported() -> None:
    story = Story().outage(30, 33)
    story.outage(20, 60, NEVER, scope=QUEUE, name="q7")
    story.facts = replace(
        story.facts, queues=(*story.facts.queues, QueueEnd("q7", True, True, "", ()))
    )
    said = text(page_of(summed(story)))
    assert (
        "How much downtime was there? 3.00 s downtime in 1 of 1 run "
        "the worst of 2 queues (q7): ≥ 40.0 s, did not recover" in said
    )
    calm = text(page_of(summed(Story().steady().outage(30, 33, windows=""))))
    assert "How much downtime was there? 3.00 s downtime in 1 of 1 run" in calm
    assert "How much downtime was there? no fault" in text(page_of(summed(Story().steady())))


def test_a_cell_is_described_in_one_sentence(tmp_path: Path) -> None:
    said = text(judged(tmp_path, crash(lost=range(230, 237)), crash()))
    assert f"{TITLE} RabbitMQ with mirrored queues. A copy of every queue on every node." in said
    assert "7 of 1,600 confirmed messages were lost (in 1 of 2 runs)." in said


def test_an_undecided_report_does_not_look_good(tmp_path: Path) -> None:
    story = crash().queue(drained=False)
    story.publish(900, at_ms=39_000).confirm(900, at_ms=39_001)
    said = text(judged(tmp_path, story))
    assert "2 promises not decided" in said
    assert "Were messages lost? none found of 801 confirmed perhaps more: not decided" in said
    assert "Faults verified, logs complete? yes" in said
    assert "No loss was found, but a loss is not ruled out." in said


def test_an_unverified_fault_proves_nothing() -> None:
    said = text(page_of(summed(Story().unverified("the process still runs"))))
    assert "Faults verified, logs complete? no the fault was not verified from" in said
    assert "not certain: fault 1: the process still runs" in said


def test_chinese_claim_is_shown_in_english_before_its_original(
    tmp_path: Path,
) -> None:
    said = text(judged(tmp_path, crash()))
    assert said.index(MEANING) < said.index(SENTENCE)


def test_unconfirmed_warning_is_distinguished_from_a_broken_promise() -> None:
    warned = verdicts_of(read_claims(WARNING, "claims of a test"), Story().evidence)
    only = summed(Story(), verdicts=warned)
    said = text(page_of(only))
    assert page_of(only).exit_code == 2, "no promise was judged"
    assert "NOT DECIDED No promise was broken; 1 warning did not come true" in said
    assert "Which promise was broken? none 0 promises kept 1 warning did not come true" in said
    assert "WARNING NOT SEEN" in said
    kept = [one for one in summed(Story()).verdicts if one.outcome is Judged.PASS]
    beside = page_of(summed(Story(), verdicts=(*warned, *kept)))
    assert beside.exit_code == 0
    assert "PASSED No promise was broken; 1 warning did not come true" in text(beside)
    both = summed(Story(), verdicts=(*warned, *summed(Story()).verdicts))
    said = text(page_of(both))
    assert "FAILED 1 promise was broken, as expected; 1 warning did not come true" in said
    assert said.index("Publishers never wait for a confirm.") < said.index("Its consumers wait")


def test_a_known_failure_is_reported_as_known() -> None:
    story = summed(Story())
    said = text(page_of(story, judge=Judge.EXPECTATIONS))
    assert "AS EXPECTED 1 promise was broken, as expected" in said
    assert "“Publishers never wait for a confirm.” (expected to fail there)" in said
    assert "FAILED 1 promise was broken, as expected" in text(page_of(story))


def test_unexpected_failures_come_before_expected_ones() -> None:
    story = Story().count("lost", "stored", 3)
    said = text(page_of(summed(story)))
    assert "FAILED 2 promises were broken; it lost 3 confirmed messages rabbitmq-mirr" in said
    assert f"2 of 3 “{MEANING}” “Publishers never wait for a confirm.” (expected to" in said


def test_scenarios_of_one_place_stand_in_a_matrix() -> None:
    other = ("cut-one-node", *CELL[1:])
    runs = (summed(Story()), summed(Story().count("lost", "stored", 3), name="b", cell=other))
    said = text(page_of(*runs, skipped=(SKIPPED,)))
    assert "FAILED 2 promises were broken in 2 of 2 cells" in said
    assert f"“{MEANING}” (in cell 2)" in said
    pooled = "lost in 1 of 2 runs (of different scenarios)"
    assert f"3 lost of 42,800 confirmed {pooled} in cell 2" in said
    assert "all-automatic @T=10" in said
    assert "✗ FAIL 0 s 1 run" in said and "✗ FAIL 3 lost 1 run" in said
    assert "– N/A why: 1" in said
    assert "Not applicable, because: 1 no mirror" in said


def test_promises_and_warnings_have_different_marks() -> None:
    mark = '<span title="a promise">●</span>'
    assert html.text(page_of(summed(Story()))).count(mark) == len(summed(Story()).verdicts)
    warned = verdicts_of(read_claims(WARNING, "claims of a test"), Story().evidence)
    page = html.text(page_of(summed(Story(), verdicts=warned)))
    assert mark not in page and '<span title="a warning">▲</span>' in page


def test_a_claim_that_does_not_apply_gives_its_reason_first() -> None:
    (first, *rest) = summed(Story()).verdicts
    none = replace(
        first,
        outcome=Judged.NOT_APPLICABLE,
        judged=("nothing was lost",),
        reasons=(Reason(Why("no fault")),),
    )
    said = text(page_of(summed(Story(), verdicts=(none, *rest))))
    assert "no fault Also observed: nothing was lost" in said


def test_the_deadline_stands_beside_the_scenario(tmp_path: Path) -> None:
    said = text(judged(tmp_path / "paced", crash()))
    assert "deadline 1 s" in said.replace("\u00a0", " ")
    unpaced = History(paced=False).flow(range(100), from_ms=0, every_ms=30)
    assert "deadline\u00a0" not in text(judged(tmp_path / "unpaced", unpaced))


def test_several_layouts_stand_side_by_side() -> None:
    runs = (summed(Story()), summed(Story().count("lost", "stored", 3), name="b", cell=OTHER))
    said = text(page_of(*runs, skipped=(SKIPPED,))).replace("\u00a0", " ")
    assert "in 2 of 2 cells" in said
    assert "B (exactly-2@T=10) lost 3 messages" in said
    assert "✓ 0 lost of 21,400 messages" in said
    assert "✗ 3 lost of 21,400 messages" in said
    assert "downtime for publishers no downtime" in said
    assert "why: 1" in said and "because: 1 no mirror" in said
    assert "Every cell at a glance" not in said


def test_a_report_on_one_place_is_no_comparison() -> None:
    said = text(page_of(summed(Story())))
    assert "Were messages lost?" in said
    assert "Scenario by scenario" not in said and "Losses by confirm level" not in said


def test_medians_and_ranges_are_reported_with_what_was_judged() -> None:
    other = ("cut-one-node", *CELL[1:])
    rows = (
        compared(CELL, "silence", 171e6),
        compared(other, "silence", None),
        compared(CELL, "lost", 0.0, unit="messages"),
        compared(CELL, "loss_unknown", 0.0, unit="messages"),
    )
    said = text(page_of(summed(Story()), summed(Story(), name="b", cell=other), comparison=rows))
    assert "0.171 s (0.086 s – 0.342 s)" in said
    assert "2 not decided in any of 5 runs" in said
    assert "No judged run had a case of: lost Where a case was impossible" in said
    assert "or a stall of mqproof makes it uncertain, the run's time is a lower bound" in said
    assert "Counts of undecided cases that are 0 as well: not decided whether lost." in said


def test_an_experiment_without_a_judged_run_says_why() -> None:
    runs = (
        run(Story(), verdicts=(), failure="the cluster did not come up: rmq2 is silent"),
        run(Story(), name="b", verdicts=(), failure="it was not begun"),
    )
    said = text(page_of(*runs))
    assert "Nothing was judged" in said
    assert "Were messages lost? unknown" in said
    assert "Not judged: the cluster did not come up: rmq2 is silent" in said
    assert "Not judged: it was not begun" in said


def test_an_interrupted_experiment_says_so() -> None:
    made = page_of(run(Story(), verdicts=(), failure="interrupted"), interrupted=True)
    assert "INTERRUPTED The experiment was interrupted" in text(made)


def test_a_report_without_any_run_is_a_page_too() -> None:
    assert "Nothing was judged" in text(page_of())


def test_the_story_of_a_lost_message_is_reported(tmp_path: Path) -> None:
    said = text(judged(tmp_path, crash(lost=[230])))
    assert "message 230 of publisher 1 in orders first sent at +" in said
    assert " s, 0.500 s before fault 1 (kill)" in said
    assert "+11.500 s attempt 1 sent by publisher 1 to rmq1 (master of orders when" in said
    assert "never delivered; it was not in its queue, which was emptied (drained), nor" in said


def test_a_fault_is_reported_as_requested_and_as_verified(tmp_path: Path) -> None:
    said = text(judged(tmp_path, crash()))
    part = said[said.index("Fault 1: kill rmq1 (master of orders)") :]
    facts = (
        *("requested", "+12.000 s", "15.0 s", "injected", "+12.000 s", "0.00 s", "0.020 s"),
        *("verified active", "0.040 s", "ended with exit code 137", "undone"),
        *("15.0 s after the injection", "+27.000 s", "0.100 s"),
        *("verified ended", "22.0 s after the injection", "the process runs"),
    )
    for fact in facts:  # each after the one before it
        assert fact in part, fact
        part = part.partition(fact)[2]


def test_page_shows_the_route_that_a_client_held(tmp_path: Path) -> None:
    story = crash()
    story.client_event("route", at_ms=500, worker=PUBLISHER)
    story.rows["client_events"][-1]["detail"] = MASTER
    said = text(judged(tmp_path, story))
    assert "The route that each client held, as its library last got it from a name server" in said
    assert "publisher-1: broker-a master" in said and "rkt1:10911" in said
    assert "The route that each client held" not in text(judged(tmp_path / "without", crash()))


def test_a_stall_leaves_a_bound_of_the_silence(tmp_path: Path) -> None:
    said = text(judged(tmp_path, crash().stall(1, at_ms=13_000, late_ms=200)))
    assert (
        "recovery NOT JUDGED publisher 1 stalled 200 ms, 1.0 s after the fault began (host busy)"
        in said
    )
    assert "no confirm for ≥ 0.090 s" in said


def test_a_page_names_the_users_claims_files(tmp_path: Path) -> None:
    made = replace(judged(tmp_path, crash()), claims_files=(ClaimsFile("o.toml", ("a", "b")),))
    said = text(made)
    assert "Judged also by your claims file o.toml : a, b" in said
    assert "your claims o.toml , copied to claims.toml beside this file" in said


def test_a_layouts_name_is_explained_by_the_recorded_timeout(tmp_path: Path) -> None:
    made = judged(tmp_path, crash())
    (one,) = made.runs
    assert one.detail is not None
    named = replace(one, cell=(*CELL[:2], "all@T=60", CELL[3]))
    del one.detail.manifest.state["detection_timeout_s"]
    assert "in its name" not in text(replace(made, runs=(named,)))
    one.detail.manifest.state["detection_timeout_s"] = 60.0
    said = text(replace(made, runs=(named,)))
    assert "@T=60 in its name: the detection timeout is 60 s." in said


def test_page_shows_the_replay_command_and_its_sources(tmp_path: Path) -> None:
    said = text(judged(tmp_path, crash()))
    assert "Repeat it: mqproof run master-crash --seed 7" in said
    assert "rabbitmq 3.10.8" in said  # a real broker, not one that behaves like it
    assert "mqproof analyse DIR" in said
    assert "seed of the run 7" in said
    assert f'title = "{TITLE}"' in said


PLACES = ["broker", "queue", "remark", "title", "host", "replay", "evidence", "use", "pieces"]


@pytest.mark.parametrize("place", PLACES)
def test_no_text_of_others_becomes_part_of_the_page(tmp_path: Path, place: str) -> None:
    story = crash(lost=[230])
    changes: dict[str, object] = {}
    if place == "broker":
        story.rows["settlements"][230]["raw"] = EVIL
    elif place == "queue":
        story.queue(EVIL).publish(900, at_ms=9, queue=EVIL).confirm(900, at_ms=10)
    elif place == "remark":
        story.client_event("lost", at_ms=20)
        story.rows["client_events"][-1]["detail"] = EVIL
    elif place == "host":
        story.rows["faults"][0] |= {"resolved": EVIL, "role": EVIL, "target": EVIL}
    elif place == "evidence":
        story.rows["faults"][2] |= {"detail": EVIL, "ok": 0}
        story.rows["faults"][0] |= {"mechanism": EVIL, "kind": EVIL}
    elif place == "use":
        for at_ms in (1_000, 2_000):
            sample(story, EVIL, at_ms, cpu_ns=at_ms)
    elif place == "pieces":
        changes["skipped"] = (Skipped(SKIPPED.cell, EVIL),)
        changes["pieces"] = (Piece(EVIL, 7, EVIL, tmp_path),)
    elif place == "title":
        changes["titles"] = {CELL: CellTitle(EVIL, EVIL, EVIL)}
    else:
        changes |= {"replay": EVIL, "experiment": EVIL, "versions": {EVIL: EVIL}}
    made = judged(tmp_path, story)
    page = html.text(replace(made, **changes))  # type: ignore[arg-type]
    assert SHOWN in page
    assert "<script" not in page
    assert not {"\x00", "\u202e"} & set(page)
    assert Text(page).tags <= TAGS


TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "div", "p"),
    *("span", "b", "i", "em", "br", "a", "h1", "h2", "h3", "h4", "h5", "ul", "ol", "li", "dl"),
    *("dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "code"),
    *("pre", "figure", "figcaption", "svg", "rect", "path", "nav", "wbr", "input", "label"),
}


def test_a_report_links_only_to_its_own_parts(tmp_path: Path) -> None:
    page = html.text(judged(tmp_path, crash(lost=[230])))
    found = Text(page)
    ids = set(re.findall(r' id="([^"]+)"', page))
    assert all(address[:1] == "#" and address[1:] in ids for address in found.addresses)
    assert not [name for name in found.attributes if name.startswith("on")]
    assert (
        "url(" not in page
        and "@import" not in page
        and "http" not in page.lower().replace("http-equiv", "")
    )


def test_the_same_report_makes_the_same_bytes(tmp_path: Path) -> None:
    made = judged(tmp_path, crash(lost=range(200, 260)))
    first = html.write(made, tmp_path).read_bytes()
    assert html.write(made, tmp_path).read_bytes() == first
    assert str(tmp_path).encode() not in first
    assert not list(tmp_path.glob("*.partial"))


def test_run_takes_bounded_space_however_many_events_it_has(tmp_path: Path) -> None:
    story = crash(lost=range(0, 800, 2), every_ms=50)
    for number in range(0, 800, 3):
        story.publish(number, at_ms=39_000 + number / 10, attempt=2)
        story.settle(number, Outcome.UNKNOWN, at_ms=39_500 + number / 10, attempt=2)
        story.client_event("lost", at_ms=number)
    made = judged(tmp_path, story)
    detail = made.runs[0].detail
    assert detail is not None
    assert sum(len(group.traces) for group in detail.affected) <= STORIES_OF_RUN_MAX
    assert len(html.text(made)) < 200_000


def test_a_run_without_tables_is_reported_from_the_rest(tmp_path: Path) -> None:
    made = judged(tmp_path, crash(lost=[230]))
    (one,) = made.runs
    assert one.detail is not None
    torn = replace(one, detail=replace(one.detail, unreadable="attempts.parquet cannot be read"))
    said = text(replace(made, runs=(torn,)))
    assert "parts of this page are missing: attempts.parquet cannot be read" in said


def test_only_the_first_failed_run_is_unfolded(tmp_path: Path) -> None:
    page = html.text(judged(tmp_path, crash(), crash(), crash(lost=[230]), crash(lost=[230])))
    opened = re.findall(r'<section class="run" id="(run-\d)">\s*<details open>', page)
    assert len(opened) == 1


def test_hidden_or_active_characters_are_shown_by_their_number() -> None:
    evil = "a\u202e\u2067b\u200b\u00ad\ufeff\U000e0041\udcff"
    page = html.text(page_of(summed(Story()), replay=evil))
    assert r"a\u202e\u2067b\u200b\xad\ufeff\U000e0041\udcff" in page
    assert page.encode()


def test_the_first_screen_says_which_version_brokers_reported() -> None:
    runs = [summed(Story(), repeat=number, brokers="rabbitmq 3.10.8") for number in (1, 2)]
    said = text(page_of(*runs))
    once = "all-automatic@T=10 · pika · version of the brokers: rabbitmq 3.10.8 Messages due"
    assert once in said
    assert "version of the brokers" not in text(page_of(summed(Story())))
