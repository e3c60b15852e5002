"""``python -m vanishing``: the command line, where the script ``vanishing`` is not on the path."""

from vanishing.cli import main

if __name__ == "__main__":
    main()
