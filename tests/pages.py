"""Pages of reports, parsed, and names that no page must take for markup."""

import json
import re
from html.parser import HTMLParser

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script></style></title><b>",
    "' onmouseover='alert(1)",
    "{{7*7}} ${1} &lt;i&gt;",
    "Größe \u202e 身長 😀 \x00\x1b",
]
VOID = {"meta", "link", "br", "input", "img", "hr", "path", "rect"}


class Page(HTMLParser):
    """A parsed page, which fails on tags that do not match."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.source = source
        self.open, self.elements, self.text, self.scripts = [], [], [], []
        self.feed(source)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes), f"repeated attribute: {attributes}"
        self.elements.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
            self.open.pop()

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif not self.open or self.open[-1] != "style":
            self.text.append(data)

    @property
    def words(self):
        return re.sub(r"\s+", " ", "".join(self.text))

    def all(self, tag, **wanted):
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and all(attributes.get(k) == v for k, v in wanted.items())
        ]

    @property
    def scene(self):
        return json.loads(self.scripts[0])
