#!/usr/bin/env python3
"""Opens a report in headless Chromium, checks that it works, and takes pictures of it.

    check.py REPORT.html SCREENSHOT_DIRECTORY [--trace] [--chromium PATH] [--chromedriver PATH]
    check.py --ready

--trace: the page has timelines only, as `drowse-lab trace` leaves it. Without it, charts and tables must be there, and
timelines are checked if there are any.

--ready: opens an empty page only, to see whether there is a browser that works.

Needs Chromium and its WebDriver (Debian: `apt-get install chromium chromium-driver`) and Python 3.8; no packages.
The pages are opened from the file, as a reader would.

Exit status: 0 if all is well; 1 if the page is at fault, with a line for each fault; 2 if the command line is wrong;
77 if there is no Chromium or no WebDriver, or they do not start, so that whoever calls can skip the check aloud.
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

SIZES = {"desktop": (1280, 900), "phone": (390, 844), "small-phone": (360, 740)}
SCHEMES = ("light", "dark")
# Its width, which Chromium without a window does not draw.
SCROLL_BAR = 15


class Fault(Exception):
    """Something is wrong with the page."""


class Driver:
    """A WebDriver process and its one session, spoken to in plain HTTP."""

    def __init__(self, chromedriver):
        self.process = subprocess.Popen(
            [chromedriver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.base, self.session = None, None

    def open(self, chromium):
        for line in self.process.stdout:
            if "started successfully on port" in line:
                self.base = "http://127.0.0.1:" + line.rsplit("port", 1)[1].strip().rstrip(".")
                break
        if self.base is None:
            raise RuntimeError("its driver ended at once")
        arguments = ["--headless=new", "--hide-scrollbars", "--disable-gpu", "--disable-dev-shm-usage"]
        if os.geteuid() == 0:
            # Chromium has no sandbox for root, which containers often are.
            arguments.append("--no-sandbox")
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": chromium, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        body = {"capabilities": {"alwaysMatch": capabilities}}
        self.session = "/session/" + self.call("POST", "/session", body)["sessionId"]

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            self.base + path, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error).get("value", {})
            raise Fault(f"the browser says: {value.get('message', error)}") from None

    def post(self, path, **body):
        return self.call("POST", self.session + path, body)

    def cdp(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def run(self, script, *arguments):
        return self.post("/execute/sync", script=script, args=list(arguments))

    def log(self, kind):
        return self.post("/se/log", type=kind)

    def close(self):
        if self.session:
            try:
                self.call("DELETE", self.session)
            except (Fault, OSError):
                pass
        self.process.terminate()
        self.process.wait(10)


def wait_for(what, condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise Fault(f"{what}: not within {seconds} seconds")


def open_page(driver, url, size, scheme):
    width, height = SIZES[size]
    driver.cdp(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=height, deviceScaleFactor=1 if size == "desktop" else 2, mobile=size != "desktop",
    )
    driver.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    driver.post("/url", url=url)
    wait_for("the page's script has run", lambda: driver.run("return document.documentElement.dataset.ready") == "yes")


def demand(condition, fault):
    if not condition:
        raise Fault(fault)


def check_parts(driver, trace):
    """Charts, table and timelines are there and are not empty."""
    count = lambda selector: driver.run("return document.querySelectorAll(arguments[0]).length", selector)
    demand(driver.run("return document.title"), "the page has no title")
    for selector, what in [
        (".findings li", "findings"), (".matrix tbody tr", "rows in the table at a glance"),
        (".all tbody tr", "rows in the table of all figures"), (".workload .chart", "charts"),
        (".chart .plot .m", "medians in the charts"), (".chart .raw circle", "samples in the charts"),
        (".axis .ticks span", "labels on the axes"),
    ]:
        demand(trace or count(selector) > 0, f"there are no {what} ({selector})")
    demand(not trace or count(".tl") > 0, "there are no timelines (.tl)")
    demand(count(".workload") == count(".workload h3 ~ .chart:first-of-type"), "a workload has no chart")
    flat = driver.run(
        "return [...document.querySelectorAll('.workload > .chart .plot')].filter(p => p.getBoundingClientRect().width < 100).length"
    )
    demand(flat == 0, f"{flat} plots are too narrow to be seen")
    return count(".tl")


def check_width(driver, size):
    """Nothing but tables, which scroll by themselves, is wider than the screen."""
    wide = driver.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    demand(wide <= 0, f"on a {size} screen the page is {wide} px too wide")
    small = driver.run(
        "return [...document.querySelectorAll('main *')].filter(e => e.childNodes.length && e.innerText &&"
        " parseFloat(getComputedStyle(e).fontSize) < 10).length"
    )
    demand(small == 0, f"on a {size} screen {small} texts are smaller than 10 px")


def check_glance(driver):
    """The table at a glance fits a desktop screen, with a bar to scroll the page: it does not scroll to the side."""
    width, height = SIZES["desktop"]
    resize = lambda to: driver.cdp(
        "Emulation.setDeviceMetricsOverride", width=to, height=height, deviceScaleFactor=1, mobile=False
    )
    resize(width - SCROLL_BAR)
    hidden = driver.run(
        "const box = document.querySelector('#glance .scroll');"
        "return box ? box.scrollWidth - box.clientWidth : 0"
    )
    resize(width)
    demand(hidden <= 0, f"the table at a glance is {hidden} px wider than its place on a desktop screen")


SHOWN = "return document.querySelector('.tlgroup').dataset.shown.split(' ').map(Number)"
BARS = "return [...document.querySelectorAll('.tl .s')].map(p => p.getAttribute('d')).join('')"
CLICK = "document.querySelector('.tlgroup [data-do=\"' + arguments[0] + '\"]').click()"


def width_of(shown):
    return shown[1] - shown[0]


def check_zoom(driver):
    """Buttons, keys, wheel and dragging change what the timelines show."""
    demand(driver.run(BARS), "the timelines have no bars")
    demand(driver.run("return [...document.querySelectorAll('.tl .a')].some(p => p.getAttribute('d'))"), "no arrow is drawn")

    def changed(what, act, holds):
        before, bars = driver.run(SHOWN), driver.run(BARS)
        act()
        wait_for(f"{what} moves the timeline", lambda: holds(before, driver.run(SHOWN)))
        demand(driver.run(BARS) != bars, f"{what} leaves the picture as it was")

    click = lambda button: lambda: driver.run(CLICK, button)
    narrower = lambda a, b: width_of(b) < width_of(a) * 0.99
    wider = lambda a, b: width_of(b) > width_of(a) * 1.01
    moved = lambda a, b: a[0] != b[0]
    driver.run(CLICK, "all")
    wait_for("'all' shows all", lambda: driver.run(SHOWN)[0] == 0)
    changed("the zoom-in button", click("in"), narrower)
    changed("the zoom-in button", click("in"), narrower)
    changed("the zoom-out button", click("out"), wider)
    changed("the later button", click("right"), lambda a, b: b[0] > a[0])
    changed("the earlier button", click("left"), lambda a, b: b[0] < a[0])

    box = driver.run(
        "const t = document.querySelector('.tl'); t.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const b = t.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]"
    )
    x, y = int(box[0] + box[2] * 0.6), int(box[1] + box[3] * 0.4)
    mouse = lambda kind, at, **more: driver.cdp("Input.dispatchMouseEvent", type=kind, x=at, y=y, **more)
    wheel = lambda: mouse("mouseWheel", x, deltaX=0, deltaY=-120, modifiers=2)
    changed("the wheel with Ctrl", wheel, narrower)

    def drag():
        mouse("mousePressed", x, button="left", buttons=1, clickCount=1)
        for step in range(1, 6):
            mouse("mouseMoved", x - 12 * step, button="left", buttons=1)
        mouse("mouseReleased", x - 60, button="left", clickCount=1)

    changed("dragging", drag, moved)
    driver.run("document.querySelector('.tl').focus({preventScroll: true})")
    press = lambda key: lambda: driver.post(
        "/actions",
        actions=[{"type": "key", "id": "k", "actions": [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}],
    )
    changed("the + key", press("+"), narrower)
    changed("the left arrow key", press("\ue012"), moved)
    changed("the 0 key", press("0"), wider)


def check_tips(driver, trace):
    """Pointing at a bar and at a row of a chart says what it is."""
    for selector, part in [(".tl", 0.5)] + ([] if trace else [(".row[data-tip] .plot", 0.5)]):
        at = driver.run(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect(); return [b.left + b.width * arguments[1], b.top + b.height / 2]",
            selector, part,
        )
        # Scrolling hides tips, a moment later.
        time.sleep(0.2)
        driver.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=int(at[0]), y=int(at[1]))
        text = "const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent"
        wait_for(f"a tip at {selector}", lambda: driver.run(text), 5)


def check_pinch(driver):
    """Two fingers apart zoom in."""
    box = driver.run(
        "const t = document.querySelector('.tl'); t.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const b = t.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]"
    )
    x, y = box[0] + box[2] * 0.6, box[1] + box[3] * 0.5
    before = driver.run(SHOWN)
    touch = lambda kind, gap: driver.cdp(
        "Input.dispatchTouchEvent", type=kind,
        touchPoints=[] if gap is None else [{"x": x - gap, "y": y, "id": 0}, {"x": x + gap, "y": y, "id": 1}],
    )
    touch("touchStart", 20)
    for gap in (30, 45, 60):
        touch("touchMove", gap)
    touch("touchEnd", None)
    wait_for("pinching zooms in", lambda: width_of(driver.run(SHOWN)) < width_of(before) * 0.9)


def check_quiet(driver, url):
    """The console is silent, and nothing but the page itself was asked for."""
    loud = [entry["message"] for entry in driver.log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    demand(not loud, "the console says: " + "; ".join(loud))
    asked = []
    for entry in driver.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    others = sorted({a for a in asked if a.split("#")[0] != url and not a.startswith("data:")})
    demand(not others, "the page asks for " + ", ".join(others))


def shoot(driver, path, clip=None):
    parameters = {"format": "png", "captureBeyondViewport": True}
    if clip:
        parameters["clip"] = dict(zip(("x", "y", "width", "height"), clip), scale=1)
    path.write_bytes(base64.b64decode(driver.cdp("Page.captureScreenshot", **parameters)["data"]))


def pictures(driver, directory, size, scheme):
    """The whole page, and the parts that a reader would look at first."""
    stem = f"{size}-{scheme}"
    driver.run("scrollTo({top: 0, behavior: 'instant'})")
    shoot(driver, directory / f"{stem}-top.png", (0, 0, *SIZES[size]))
    for part in ("glance", "timelines", "workloads", "figures", "how"):
        box = driver.run(
            "const e = document.getElementById(arguments[0]); if (!e) return null;"
            "const b = e.getBoundingClientRect(); return [b.top + scrollY, b.height]", part,
        )
        if box:
            width, height = SIZES[size]
            limit = height * (2 if size == "desktop" else 3)
            shoot(driver, directory / f"{stem}-{part}.png", (0, max(0, box[0] - 10), width, min(box[1] + 20, limit)))


def check(driver, url, directory, trace):
    for size in SIZES:
        for scheme in SCHEMES:
            place = f"{size}, {scheme}"
            try:
                open_page(driver, url, size, scheme)
                timelines = check_parts(driver, trace)
                check_width(driver, size)
                if size == "desktop":
                    check_glance(driver)
                pictures(driver, directory, size, scheme)
                if timelines and size == "desktop":
                    check_zoom(driver)
                    check_tips(driver, trace)
                elif timelines:
                    check_pinch(driver)
                check_quiet(driver, url)
            except Fault as fault:
                yield f"{place}: {fault}"
                driver.log("browser")


HOW_TO_GET_IT = "install Chromium and its driver (Debian: apt-get install chromium chromium-driver)"


def start(options):
    """A browser; or none, and why."""
    if not options.chromium:
        return None, "there is no Chromium"
    if not options.chromedriver:
        return None, "there is no chromedriver"
    driver = Driver(options.chromedriver)
    try:
        driver.open(options.chromium)
        return driver, None
    except (Fault, OSError, RuntimeError) as error:
        driver.close()
        return None, "Chromium does not start: " + str(error).splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description="Checks a report in headless Chromium.")
    parser.add_argument("report", type=pathlib.Path, nargs="?", help="the page")
    parser.add_argument("directory", type=pathlib.Path, nargs="?", help="where screenshots go")
    parser.add_argument("--ready", action="store_true", help="only see whether there is a browser that works")
    parser.add_argument("--trace", action="store_true", help="the page has timelines only")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("--chromedriver", default=shutil.which("chromedriver"))
    options = parser.parse_args()
    if not options.ready:
        if options.directory is None:
            parser.error("a page and a directory for screenshots are wanted, or --ready")
        if not options.report.is_file():
            parser.error(f"there is no file {options.report}")
    driver, trouble = start(options)
    if driver is None:
        print(f"{trouble}; {HOW_TO_GET_IT}", file=sys.stderr)
        return 77
    try:
        if options.ready:
            return 0
        options.directory.mkdir(parents=True, exist_ok=True)
        faults = list(check(driver, options.report.resolve().as_uri(), options.directory, options.trace))
    finally:
        driver.close()
    for fault in faults:
        print(f"fault: {fault}", file=sys.stderr)
    if not faults:
        shots = len(list(options.directory.glob("*.png")))
        print(f"the page works on {', '.join(SIZES)} in light and dark; {shots} screenshots in {options.directory}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
