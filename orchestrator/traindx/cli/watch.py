"""`traindx watch PATH`."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING

from traindx.cli.arguments import amount, run_path
from traindx.cli.diagnose import FAIL_ON, Commands
from traindx.cli.streams import print_result, say
from traindx.definitions.visible import visible

if TYPE_CHECKING:
    from traindx.watch import Finding
    from traindx.watch.finding import Tell


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "watch",
        parents=[shared],
        help="follow a running job and tell what goes wrong",
        description="Follows the files of a running job and tells findings as they become certain, one line each."
        " Nothing in PATH is ever changed. Ends with Ctrl-C, or with the job.",
    )
    parser.add_argument("path", metavar="PATH", type=run_path, help="a run folder, or one file of it")
    parser.add_argument("--until-idle", type=amount, metavar="MINUTES", help="end when nothing new came for so long")
    parser.add_argument("--pid", type=int, metavar="PID", help="end when this process ends")
    parser.add_argument("--webhook", metavar="URL", help="send each finding there as JSON (POST)")
    parser.add_argument("--wandb", metavar="PROJECT", help="raise each finding as an alert of W&B in this project")
    parser.add_argument("--trackio", metavar="PROJECT", help="raise each finding as an alert of trackio")
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        metavar="SEVERITY",
        help="exit with 1 when something of this severity (low, medium, high, critical) or worse was told",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Watch until the end."""
    from traindx.watch import Ending, Watch

    with contextlib.ExitStack() as outputs:
        tells: list[Tell] = [_line(args)]

        def tell(finding: Finding) -> None:
            for one in tells:
                one(finding)

        watched = Watch(
            args.path,
            tell,
            Ending(args.pid, None if args.until_idle is None else 60 * args.until_idle),
        )
        tells += _outputs(args, outputs)
        if not args.quiet:
            say(f"traindx: watching {visible(args.path)}")
        # Ctrl-C and SIGTERM are how a watch that has no other end is ended.
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            watched.run()
    for trouble in dict.fromkeys(watched.troubles):
        say(f"traindx: {visible(trouble)}")
    return _status(args.fail_on, watched.findings)


def _line(args: argparse.Namespace) -> Tell:
    """Each finding on stdout as it is told."""

    def tell(finding: Finding) -> None:
        print_result((finding.model_dump_json() if args.json else finding.text()) + "\n")

    return tell


def _outputs(args: argparse.Namespace, opened: contextlib.ExitStack) -> list[Tell]:
    """The other places where findings are to be told."""
    found: list[Tell] = []
    if args.webhook:
        from traindx.watch.webhook import Webhook

        webhook = Webhook(args.webhook, _complain)
        opened.callback(webhook.close)
        found.append(webhook)
    for tracker in ("wandb", "trackio"):
        project = getattr(args, tracker)
        if project:
            from traindx.watch.trackers import Alerts

            alerts = Alerts(tracker, project, _complain)
            opened.callback(alerts.close)
            found.append(alerts)
    return found


def _complain(text: str) -> None:
    say(f"traindx: {visible(text)}")


def _status(bar: str | None, findings: list[Finding]) -> int:
    from traindx.cli import FOUND, OK
    from traindx.contract import SEVERITIES

    if bar is None:
        return OK
    told = [finding for finding in findings if finding.kind != "recovered"]
    worst = max((SEVERITIES.index(finding.severity) for finding in told), default=-1)
    return FOUND if worst >= SEVERITIES.index(bar) else OK
