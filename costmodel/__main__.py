"""`python -m costmodel`."""

from costmodel.cli.app import main

if __name__ == "__main__":
    main()
