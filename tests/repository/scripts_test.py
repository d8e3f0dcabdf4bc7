# SPDX-License-Identifier: BSD-3-Clause
"""Runs the scripts' installation of missing packages against a make-believe apt-get."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import sources

ROOT = pathlib.Path(sys.argv[1])

# Notes how it was called; an installation makes the command `needed` appear.
APT_GET = """#!/bin/sh
echo "$@" >>"$FOLDER/calls"
if [ "$1" = install ] && [ -z "$BROKEN" ]; then
    cp "$FOLDER/bin/dirname" "$FOLDER/bin/needed"
fi
"""
SUDO = '#!/bin/sh\nexec "$@"\n'


class Install(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "bin").mkdir()
        for tool in ("dirname", "env", "cp", "sh"):
            (self.folder / "bin" / tool).symlink_to(shutil.which(tool))

    def tearDown(self):
        self.temporary.cleanup()

    def tool(self, name, text):
        path = self.folder / "bin" / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def require(self, *needs, **environment):
        command = f'set -euo pipefail; source {ROOT}/scripts/common.sh; require "$@"'
        environment = {"PATH": str(self.folder / "bin"), "FOLDER": str(self.folder), **environment}
        return sources.run([shutil.which("bash"), "-c", command, "bash", *needs], env=environment)

    def calls(self):
        path = self.folder / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def test_nothing_is_installed_when_all_is_there(self):
        self.tool("apt-get", APT_GET)
        code, output = self.require("env=coreutils", "sh=dash")
        self.assertEqual(0, code, output)
        self.assertIn("already there: coreutils dash", output)
        self.assertEqual([], self.calls())

    def test_only_what_is_missing_is_installed(self):
        self.tool("apt-get", APT_GET)
        self.tool("sudo", SUDO)
        code, output = self.require("env=coreutils", "needed=a-package")
        self.assertEqual(0, code, output)
        self.assertIn("already there: coreutils", output)
        self.assertIn("installing: a-package", output)
        update, install = self.calls()
        self.assertTrue(update.startswith("update"), update)
        self.assertTrue(install.startswith("install") and install.endswith(" a-package"), install)

    def test_an_installation_that_does_not_help_is_an_error(self):
        self.tool("apt-get", APT_GET)
        self.tool("sudo", SUDO)
        code, output = self.require("needed=a-package", BROKEN="yes")
        self.assertNotEqual(0, code)
        self.assertIn("needed is still not found", output)

    def test_without_apt_get_the_packages_are_named(self):
        code, output = self.require("needed=a-package", "/no/such/header.h=another")
        self.assertNotEqual(0, code)
        self.assertIn("a-package another", output)


class OnDebian(unittest.TestCase):
    """What --on makes of a script's arguments, by a made-up scripts/on-debian."""

    def run_on(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            scripts = pathlib.Path(folder) / "scripts"
            scripts.mkdir()
            shutil.copy(ROOT / "scripts" / "common.sh", scripts)
            (scripts / "test").write_text('source "$(dirname "$0")/common.sh"\non_debian "$@"\necho here "$@"\n', encoding="utf-8")
            (scripts / "on-debian").write_text('#!/bin/sh\necho there "$@"\n', encoding="utf-8")
            (scripts / "on-debian").chmod(0o755)
            code, output = sources.run([shutil.which("bash"), scripts / "test", *arguments])
            return code, output.replace(f"{scripts}/", "").strip()

    def test_the_script_runs_there_with_all_other_arguments(self):
        self.assertEqual((0, "there trixie test --share turn"), self.run_on("--share", "--on", "trixie", "turn"))
        self.assertEqual((0, "there trixie test"), self.run_on("--on", "trixie"))
        self.assertEqual((0, "here --share turn"), self.run_on("--share", "turn"))
        code, output = self.run_on("--quick", "--on")
        self.assertNotEqual(0, code)
        self.assertIn("--on takes a release", output)

    def test_wrong_arguments_are_refused_before_anything_is_made(self):
        for arguments, words in ((("trixie",), "what to run"), (("../here", "true"), "not '../here'"), ((), "which release"),
                                 (("trixie", "--no-such-option", "true"), "--no-such-option")):
            code, output = sources.run([ROOT / "scripts" / "on-debian", *arguments])
            self.assertNotIn(code, (0, 77), output)
            self.assertIn(words, output)


class Options(unittest.TestCase):
    def test_help_tells_and_does_nothing(self):
        for script in ("demo", "test", "torusnet", "compare", "compare-put", "compare-model", "compare-overlap", "compare-builds", "soak", "on-debian"):
            code, output = sources.run([ROOT / "scripts" / script, "--help"])
            self.assertEqual(0, code, output)
            self.assertIn(f"usage: scripts/{script}", output.lower())
            self.assertNotIn("==>", output)

    def test_unknown_options_are_refused(self):
        for script in ("scripts/demo", "scripts/test", ".ci/run"):
            code, output = sources.run([ROOT / script, "--no-such-option"], env=dict(os.environ))
            self.assertNotEqual(0, code)
            self.assertIn("--no-such-option", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
