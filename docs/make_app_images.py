"""Make the pictures of the page: ``python docs/make_app_images.py`` writes docs/images.

They show the page of `vanishing app` with its examples, in a headless Chromium.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from make_front_images import DOCS

sys.path.insert(0, str(DOCS.parent / "tests"))
from chromium import Browser
from serving import Server

# Of a picture: its example, the part of the page that it begins with, its size, and colours.
PICTURES = {
    "app_table": ("pump", "columns", (1100, 1010), False),
    "app_law": ("gas", "answer", (1100, 800), False),
    "app_rows": ("plant", "answer", (1100, 1180), True),
}


def main():
    """Write the pictures."""
    with TemporaryDirectory() as folder, Browser() as browser:
        server = Server(Path(folder))
        for name, (example, part, (width, height), dark) in PICTURES.items():
            page = browser.new_page(width=width, height=height, dark=dark, calm=True)
            page.goto(server.address)
            page.click(f"[data-example={example}]")
            page.wait_for_selector("#question:not([hidden])")
            if part == "answer":
                page.click("#asking button.main")
                page.wait_for_selector("#answer:not([hidden])")
            page.evaluate("part => document.getElementById(part).scrollIntoView()", part)
            page.wait_for_timeout(300)
            page.screenshot(path=DOCS / "images" / f"{name}.png")
            page.context.close()
        server.end()


if __name__ == "__main__":
    main()
