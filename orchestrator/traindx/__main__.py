"""`python -m traindx` is the `traindx` command."""

from traindx.cli import main

raise SystemExit(main())
