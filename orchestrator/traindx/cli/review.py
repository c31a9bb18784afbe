"""`traindx review PATH...`: training code checked without running it."""

from __future__ import annotations

import argparse

from traindx.cli.arguments import HERE, run_path, target
from traindx.cli.diagnose import FAIL_ON, Commands


def add(commands: Commands[argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "review",
        parents=[shared],
        help="check training code without running it",
        description="Follows the training programs in PATH through their loops, helpers and files, and reports faults"
        " that the code itself shows. `# traindx: ignore[rule]` on a line leaves it out. Exit codes: 0 nothing found,"
        " 1 something found, 2 bad usage.",
    )
    parser.add_argument("path", metavar="PATH", nargs="*", type=run_path, help="folders and files (default: .)")
    parser.add_argument(
        "--format", default="text", choices=("text", "json", "sarif", "github"), help="how to print the findings"
    )
    parser.add_argument("--output", type=target, metavar="FILE", help="write the findings to FILE instead of stdout")
    parser.add_argument(
        "--diff", metavar="REV", default="", help="only lines that have changed since this git revision"
    )
    parser.add_argument("--fail-on", choices=FAIL_ON, default="low", help="exit with 1 from this severity on")
    parser.add_argument("--all", action="store_true", help="suspicions too, not only what the code proves")
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 whatever was found")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Review and print; 1 where something at or above the chosen severity was found."""
    from traindx.cli.output import page_for, write
    from traindx.pipeline.review import PROVEN, review
    from traindx.report.reviewed import render_review

    found = review(args.path or [HERE], args.diff)
    if not args.all:
        proven = [one for one in found.findings if one.confidence >= PROVEN]
        found = found.model_copy(update={"findings": proven})
    form = "json" if args.json else args.format
    write(render_review(found, form, page_for(args)), args.output)
    bar = FAIL_ON.index(args.fail_on)
    failed = any(FAIL_ON.index(one.severity) >= bar for one in found.findings)
    return 1 if failed and not args.exit_zero else 0
