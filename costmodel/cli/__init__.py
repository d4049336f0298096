"""The command line: `python -m costmodel COMMAND`. Thin: options in, engine's numbers out."""
