"""The system's Chromium, headless, driven by Playwright."""

import shutil
from pathlib import Path

EXECUTABLE = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
_OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-quic", "--hide-scrollbars"),
)
_TIMEOUT = 120_000  # milliseconds: a busy machine fails no test
_ICON = "/favicon.ico"


def why_not() -> str:
    """Return why there is no browser to test with, or ""."""
    if EXECUTABLE is None:
        return "no Chromium on the PATH"
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "Playwright is not installed"
    return ""


class Browser:
    """A browser with one page at a time that is looked at; a context manager."""

    def __enter__(self):
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        self.chromium = self._playwright.chromium.launch(
            executable_path=EXECUTABLE, args=list(_OPTIONS)
        )
        self.page = None
        return self

    def __exit__(self, *problem):
        self.chromium.close()
        self._playwright.stop()

    def new_page(self, *, width=1200, height=900, scale=1, dark=False, script=True, calm=False):
        """Open an empty tab with a profile of its own; what it complains of is remembered."""
        context = self.chromium.new_context(
            viewport={"width": width, "height": height},
            device_scale_factor=scale,
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce" if calm else "no-preference",
            java_script_enabled=script,
            is_mobile=width < 600,
            has_touch=width < 600,
            accept_downloads=True,
        )
        context.set_default_timeout(_TIMEOUT)
        return self.tab(context)

    def tab(self, context):
        """Open one more tab of a profile; it becomes the page that is looked at."""
        page = self.page = context.new_page()
        page.complaints, page.asked_for = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: page.asked_for.append(request.url))
        return page

    def open(self, path, **options):
        """Open a file in a new tab and wait until it is there; the tab before it is closed."""
        if self.page is not None:
            self.page.context.close()
        self.new_page(**options).goto(Path(path).resolve().as_uri(), timeout=_TIMEOUT)
        return self

    def run(self, expression):
        """Return the value of a JavaScript expression, or of a promise, once it is there."""
        return self.page.evaluate(f"() => ({expression})")

    def settle(self):
        """Wait until what is asked for has been drawn."""
        self.run(
            "new Promise(done => setTimeout(() => requestAnimationFrame("
            "() => requestAnimationFrame(() => done(1))), 250))"
        )

    def wheel(self, x, y, by):
        """Turn the wheel at a place of the window."""
        self.page.mouse.move(x, y)
        self.page.mouse.wheel(0, by)

    def drag(self, start, end, steps=5):
        """Press at one place, move to another, let go."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=steps)
        self.page.mouse.up()
        self.settle()

    def key(self, key):
        """Press a key."""
        self.page.keyboard.press(key)
        self.settle()

    def screenshot(self, path=None, *, whole=False, clip=None):
        """Return a picture of the window, of a part of the page or of all of it, as PNG."""
        options = {"path": path, "full_page": whole or clip is not None}
        if clip is not None:
            options["clip"] = dict(zip(("x", "y", "width", "height"), clip, strict=True))
        return self.page.screenshot(**options)

    def problems(self):
        """Return what the page complained of: console messages, exceptions, dialogs."""
        return self.page.complaints

    def requests(self):
        """Return the addresses that the page asked for."""
        return [url for url in self.page.asked_for if not url.endswith(_ICON)]
