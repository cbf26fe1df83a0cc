"""`mqproof judge`: histories of anybody's, judged as our own runs are."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.shell import ClaimsOption, JsonOption, Shell, print_lines


class HistoryFormat(StrEnum):
    """What a file of histories can be."""

    MQPROOF = "mqproof"
    JEPSEN = "jepsen"
    OPENCHAOS = "openchaos"


FormOption = Annotated[
    HistoryFormat, typer.Option("--from", help="The tool whose format the files have.")
]
ExplainOption = Annotated[
    bool,
    typer.Option("--explain", help="Add the other tool's verdict, and why the two differ."),
]
DeclareOption = Annotated[
    list[str] | None,
    typer.Option(
        "--declare",
        metavar="NAME=VALUE",
        help="A fact that the history lacks, such as durable=true (`mqproof list facts`); "
        "repeatable.",
    ),
]


def judge(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="History files; .gz is accepted.")
    ],
    form: FormOption = HistoryFormat.MQPROOF,
    as_json: JsonOption = False,
    explain: ExplainOption = False,
    declare: DeclareOption = None,
    claims: ClaimsOption = None,
) -> int:
    """Judge histories of other tools: mqproof's JSON, Jepsen's EDN, OpenChaos's TSV.

    It needs neither Docker nor Spark. --json prints one object per line, one for each file.
    """
    # Here and not above: numpy and Arrow take their time, and other commands need none of them.
    from harness.judging import exits, own_claims
    from harness.pipeline import histories
    from harness.report import judged as words
    from harness.report.lines import claims_lines

    shell: Shell = context.obj
    own, unread = own_claims.given(claims)
    every = histories.judge_files(files, form.value, explain, declare or (), own, unread)
    code = exits.of_claims(one.verdicts for one in every)
    if as_json:
        for one in every:
            print(json.dumps(words.said(one)))
    else:
        for one in every:
            print_lines(shell.out, words.lines(one))
        print_lines(shell.out, claims_lines([own.named] if own else []))
        print_lines(shell.out, [words.last_line(every, code)])
    return code
