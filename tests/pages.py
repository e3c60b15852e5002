"""Pages of reports, parsed, and names that no page must take for markup."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

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


def check_page(page):
    """Fail unless a page without scripts is well formed and refers to nothing outside."""
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        assert attributes.get("aria-labelledby", ids[0]) in ids
        if "href" in attributes:
            target = attributes["href"]
            assert target == "data:," or (target[0] == "#" and target[1:] in ids)
        assert not any(name.startswith("on") or name == "src" for name in attributes)
    assert "://" not in page.source and "url(" not in page.source
    assert not page.all("script") and not page.all("img")
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    assert "script-src 'none'" in policy and policy.startswith("default-src 'none'")
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    for svg in page.all("svg"):
        assert svg["role"] == "img" and svg["aria-label"]
