"""One browser visit per page in each of its states, shared by many tests."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS, SCHEMES = (1280, 360), ("light", "dark")
REFLOW = (640, 320)
"""A window of 1280 pixels at 200 % and at 400 %: WCAG 1.4.4 and 1.4.10."""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
JUDGED = ((1280, "light"), (360, "dark"))
"""The states that axe judges: each width and each scheme once, since a page's colours do not depend on its width."""
_QUIET_MS = 150
_AXE = """options => axe.run(document, {...options, resultTypes: ['violations'], iframes: false}).then(found =>
  found.violations.flatMap(rule => rule.nodes.map(node =>
    `${rule.id}: ${node.target.join(' ')}: ${node.failureSummary.split('\\n').slice(1, 3).join(' ').trim()}`)))"""
_SHADES = """[getComputedStyle(document.querySelector('h1')).color, getComputedStyle(document.body).backgroundColor]
  .map(text => text.match(/[\\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))"""

# The theme makes code that scrolls focusable, a moment later; axe reports what is not after five seconds.
_SETTLED = """() => new Promise(done => {
  const end = performance.now() + 5000
  const waits = code => code.clientWidth && code.scrollWidth > code.clientWidth && code.tabIndex != 0
  const look = () => performance.now() < end && [...document.querySelectorAll('pre > code')].some(waits)
    ? setTimeout(look, 50) : done()
  look()
})"""


@dataclass
class Visit:
    """The observations of one page."""

    requests: list[str] = field(default_factory=list)
    transferred: int = 0
    """Bytes of responses as sent, with headers."""
    noise: list[str] = field(default_factory=list)
    """Console messages and script errors."""
    violations: dict[str, list[str]] = field(default_factory=dict)
    """Violations found by axe, by state."""
    widths: dict[int, int] = field(default_factory=dict)
    """The page's scroll width, by window width."""
    follows: dict[str, bool] = field(default_factory=dict)
    """Whether its colours are those of the scheme that the system asks for."""
    description: str = ""

    @property
    def external_requests(self) -> list[str]:
        """Return the requests to other hosts."""
        return [
            url for url in self.requests if not url.startswith(("file:", "data:", "blob:", "about:", "http://127."))
        ]


def visit(browser: "Browser", address: str, axe: str = "") -> Visit:
    """Open a page in every width and scheme; with axe's source, check each state."""
    seen = Visit()
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    _record(page, seen)
    page.goto(address, wait_until="networkidle" if address.startswith("http") else "load")
    page.wait_for_timeout(_QUIET_MS)
    seen.description = page.evaluate("document.querySelector('meta[name=description]')?.content ?? ''")
    if axe:
        page.evaluate(f"{axe};0")
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(_SETTLED)
        for scheme in SCHEMES:
            _look(page, seen, scheme)
            if axe and (width, scheme) in JUDGED:
                seen.violations[f"{width} {scheme}"] = judge(page)
        seen.widths[width] = page.evaluate("document.documentElement.scrollWidth")
    for width in REFLOW:
        page.set_viewport_size({"width": width, "height": 450})
        seen.widths[width] = page.evaluate("document.documentElement.scrollWidth")
    context.close()
    return seen


def _record(page: "Page", seen: Visit) -> None:
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on(
        "console", lambda message: seen.noise.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: seen.noise.append(str(error)))

    def count(request: Any) -> None:
        sizes = request.sizes()
        seen.transferred += sizes["responseBodySize"] + sizes["responseHeadersSize"]

    page.on("requestfinished", count)


def _look(page: "Page", seen: Visit, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.wait_for_function(f"document.body.dataset.mdColorScheme == '{'slate' if scheme == 'dark' else 'default'}'")
    ink, paper = page.evaluate(_SHADES)
    seen.follows[scheme] = (ink > paper) == (scheme == "dark")


def judge(page: "Page") -> list[str]:
    """Return axe's violations on the loaded page."""
    found: list[str] = page.evaluate(_AXE, {"runOnly": {"type": "tag", "values": RULES}})
    return found
