"""A headless Chromium, driven through the DevTools protocol on a pair of pipes."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

EXECUTABLE = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


class Browser:
    """A browser that opens files; a context manager."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.commands = os.pipe()
        self.answers, to_write = os.pipe()
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={self.folder.name}",
            "about:blank",
        ]
        # The browser reads commands from 3 and writes answers to 4.
        self.process = subprocess.Popen(
            [
                "sh",
                "-c",
                f'exec "$@" 3</dev/fd/{to_read} 4>/dev/fd/{to_write}',
                "sh",
                EXECUTABLE,
                *options,
            ],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder.name},
        )
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.count, self.events, self.session = b"", 0, [], None
        return self

    def __exit__(self, *problem):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        os.close(self.commands)
        os.close(self.answers)
        self.folder.cleanup()

    def _next(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, deadline - time.time()))
            part = os.read(self.answers, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("the browser does not answer")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method, timeout=300.0, **parameters):
        """Send a command and return its result; events meanwhile go to `events`."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.time() + timeout
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, *, width=1200, height=900, scale=1, dark=False, script=True):
        """Open a file in a new tab and wait until it is there."""
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        self.events.clear()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": scale}
        self.send("Emulation.setDeviceMetricsOverride", mobile=width < 600, **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        if not script:
            self.send("Emulation.setScriptExecutionDisabled", value=True)
        self.send("Page.navigate", url=Path(path).resolve().as_uri())
        deadline = time.time() + 300
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            answer = self._next(deadline)
            self.events.append(answer)
        return self

    def run(self, expression):
        """Return the value of a JavaScript expression, or of a promise, once it is there."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def settle(self):
        """Wait until what is asked for has been drawn."""
        self.run(
            "new Promise(done => setTimeout(() => requestAnimationFrame("
            "() => requestAnimationFrame(() => done(1))), 250))"
        )

    def mouse(self, kind, x, y, **options):
        """Send a mouse event at a place of the window."""
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **options)

    def drag(self, start, end, steps=5):
        """Press at one place, move to another, let go."""
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        self.mouse("mousePressed", *start, **button)
        for i in range(1, steps + 1):
            here = [a + (b - a) * i / steps for a, b in zip(start, end, strict=True)]
            self.mouse("mouseMoved", *here, **button)
        self.mouse("mouseReleased", *end, **button)
        self.settle()

    def key(self, key):
        """Press a key."""
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def screenshot(self, path=None, *, whole=False, clip=None):
        """Return a picture of the window, of a part of the page or of all of it, as PNG."""
        options = {}
        if clip is not None:
            options["clip"] = {**dict(zip(("x", "y", "width", "height"), clip, strict=True))}
            options["clip"]["scale"] = 1
        answer = self.send(
            "Page.captureScreenshot",
            format="png",
            captureBeyondViewport=whole or clip is not None,
            **options,
        )
        picture = base64.b64decode(answer["data"])
        if path is not None:
            Path(path).write_bytes(picture)
        return picture

    def problems(self):
        """Return what the page complained of: console messages, exceptions, the browser's log."""
        return [
            event
            for event in self.events
            if event["method"]
            in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        ]

    def requests(self):
        """Return the addresses that the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]
