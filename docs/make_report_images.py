"""Make the pictures of reports: ``python docs/make_report_images.py`` writes docs/images.

They show what the code of docs/report.md writes, in a headless Chromium.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from make_front_images import DOCS, computed

sys.path.insert(0, str(DOCS.parent / "tests"))
from chromium import Browser

_TOP = "document.querySelector('#picture').getBoundingClientRect().top"


def main():
    """Write the pictures."""
    with TemporaryDirectory() as folder, Browser() as browser:
        os.chdir(folder)
        computed("report.md", 3)
        images = DOCS / "images"
        for page, name, size in (
            ("wine.html", "report_start", (1120, 1080)),
            ("gas.html", "report_laws", (1100, 1180)),
        ):
            browser.open(Path(page), width=size[0], height=size[1])
            browser.settle()
            browser.screenshot(images / f"{name}.png")
        for name, size, dark in (
            ("report_picture", (1120, 782), False),
            ("report_phone", (390, 1100), True),
        ):
            browser.open(Path("surfaces.html"), width=size[0], height=size[1], dark=dark)
            browser.run(f"window.scrollTo(0, {_TOP} - 10)")
            browser.settle()
            browser.screenshot(images / f"{name}.png")


if __name__ == "__main__":
    main()
