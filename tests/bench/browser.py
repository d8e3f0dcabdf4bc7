# SPDX-License-Identifier: BSD-3-Clause
"""A real headless browser, and what a page says on its console."""

import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

PATIENCE = 150  # seconds for a page; none takes a tenth of it on a machine that is not busy


def find():
    """The path of a browser, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def on_a_phone(page, wide=360, high=740):
    """A page beside `page` that shows it as on a narrow screen; windows of a browser without a screen are at least 500 pixels wide.
    What follows a hash in its address goes to the page."""
    frame = page.with_name(f"phone-{page.name}")
    frame.write_text(f"""<!doctype html><style>body {{ margin: 0 }} iframe {{ border: 0; width: {wide}px; height: {high}px }}</style>
<iframe></iframe><script>document.querySelector("iframe").src = "{page.name}" + location.hash;</script>""", encoding="utf-8")
    return frame


def console_of(browser, address, folder, done, window="1280,900", flags=()):
    """The lines that the page writes to its console, until done(line) or PATIENCE is over."""
    command = [browser, "--headless", "--disable-gpu", "--enable-logging=stderr", "--remote-debugging-port=0",
               "--no-first-run", f"--window-size={window}", f"--user-data-dir={folder}/profile", *flags]
    if os.geteuid() == 0:
        command.append("--no-sandbox")
    process = subprocess.Popen([*command, address], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True)
    lines = queue.Queue()

    def read():
        for line in process.stderr:
            lines.put(line)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    said, end = [], time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end and process.poll() is None:
            try:
                match = re.search(r':CONSOLE[^\]]*\] "(.*)", source', lines.get(timeout=0.5))
            except queue.Empty:
                continue
            if match:
                said.append(match[1])
                if done(match[1]):
                    break
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join(10)
    return said


def test_pages(without, within, in_browser):
    """Runs the checks of a page in a folder of their own: within(browser, folder), or each of without(folder). As exit code."""
    browser = find()
    if in_browser and browser is None:
        print("there is no chromium to play the pages; apt-get install chromium")
        return 77
    with tempfile.TemporaryDirectory(prefix="trefoil-pages-") as name:
        folder = pathlib.Path(name)
        if in_browser:
            within(browser, folder)
        else:
            for check in without:
                check(folder)
    return 0
