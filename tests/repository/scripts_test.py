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


class Options(unittest.TestCase):
    def test_help_tells_and_does_nothing(self):
        for script in ("demo", "test", "torusnet", "compare", "compare-put", "compare-model", "compare-overlap", "soak"):
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
