"""Nothing here is a test: golden.py runs these files, and they need all optional packages."""

collect_ignore_glob = ["*.py"]
