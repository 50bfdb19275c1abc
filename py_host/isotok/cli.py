"""The command `isotok`.

Exit codes: 0 done; 1 a check failed or a difference was found; 2 wrong usage or input;
130 interrupted; 141 whoever reads the output has gone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from isotok.errors import TokenizerError

EXIT_DIFFERENCE = 1
EXIT_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        import click

        from isotok._distil_command import commands
    except ImportError as error:
        return _complain(f"{error}; the command line needs: pip install 'isotok[cli]'")
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        return _complain("standard output is closed; send it to a file or to /dev/null")
    try:
        # Not commands.main(): it would turn a broken pipe into exit code 1.
        arguments = sys.argv[1:] if arguments is None else arguments
        with commands.make_context("isotok", list(arguments)) as context:
            result = commands.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return EXIT_INPUT
    except (click.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return EXIT_PIPE
    except (TokenizerError, ImportError, OSError) as error:
        return _complain(str(error))
    return result if isinstance(result, int) else 0


def _complain(message: str) -> int:
    print(f"isotok: {message}", file=sys.stderr)
    return EXIT_INPUT


def _forget_output() -> None:
    """Send what Python still wants to write to nowhere, or it complains at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
