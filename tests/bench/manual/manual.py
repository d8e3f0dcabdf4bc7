# SPDX-License-Identifier: BSD-3-Clause
"""Whether manual pages and completion have all subcommands and options that --help has, and shells understand the scripts."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
# One option of --help: "  -n,--ranks INT:..." or "  --label, --no-label{false}".
OPTION = re.compile(r"^  (?=-)((?:-{1,2}[\w-]+(?:\{\w+\})?(?:,\s?)?)+)", re.MULTILINE)


def run(*command, environment=None):
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    if result.returncode != 0 or result.stderr:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def help_of(words):
    """(subcommands, options) that --help of these words tells."""
    text = run(TOOL, *words, "--help")
    parts = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
    options = {re.sub(r"\{.*", "", name) for names in OPTION.findall(text) for name in re.split(r",\s?", names) if name}
    return re.findall(r"^  (\S+)", parts[1], re.MULTILINE) if parts else [], options


def everything(words=()):
    """(words, subcommands, options) of the command and all its subcommands."""
    parts, options = help_of(words)
    return [(words, parts, options), *(entry for part in parts for entry in everything((*words, part)))]


def bash_offers(script, words):
    """What the completion of bash offers for the last of these words."""
    quoted = " ".join(f"'{word}'" for word in ("trefoil", *words))
    return set(run("bash", "-c", f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _trefoil; "
                   'printf "%s\\n" "${COMPREPLY[@]}"').split())


def fish_offers(script, words):
    return {line.split("\t")[0] for line in
            run("fish", "--no-config", "-c", f"source {script}; complete -C 'trefoil {' '.join(words)}'").splitlines()}


def expect(what, wanted, found):
    if wanted - found:
        sys.exit(f"{what} lacks {', '.join(sorted(wanted - found))}")


def check(folder):
    scripts = {}
    for shell in ("bash", "zsh", "fish"):
        scripts[shell] = folder / shell
        scripts[shell].write_text(run(TOOL, "manual", "--completion", shell), encoding="utf-8")
        if shutil.which(shell):
            run(shell, "-n", str(scripts[shell]))
    zsh = scripts["zsh"].read_text(encoding="utf-8")
    run(TOOL, "manual", "--pages", str(folder / "pages"))
    commands = everything()
    for words, parts, options in commands:
        name = "-".join(("trefoil", *words))
        source = (folder / "pages" / f"{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
        bold = set(re.findall(r"\\fB(\S+?)\\fR", source))
        expect(f"the page {name}", options | set(parts), bold)
        # "-h" alone of those that have two names: a long beginning finds the others, too.
        expect(f"bash for {name}", options, bash_offers(scripts["bash"], (*words, "-")))
        expect(f"bash for {name}", set(parts), bash_offers(scripts["bash"], (*words, "")))
        entry = re.search(rf"^        '{' '.join(('trefoil', *words))}'\)\n.*parts=(.*)\n.*options=(.*)\n", zsh, re.MULTILINE)
        expect(f"zsh for {name}", options, set(re.findall(r"'(-[\w-]+):", entry[2])))
        expect(f"zsh for {name}", set(parts), set(re.findall(r"'([\w-]+):", entry[1])))
        if shutil.which("fish"):
            long_ones = {option for option in options if option.startswith("--")}
            expect(f"fish for {name}", long_ones, fish_offers(scripts["fish"], (*words, "--")))
            expect(f"fish for {name}", set(parts), fish_offers(scripts["fish"], (*words, "")))
        if shutil.which("man"):
            run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(folder / "pages" / f"{name}.1"),
                environment=os.environ | {"LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"})
    if bash_offers(scripts["bash"], ("manual", "--completion", "")) != {"bash", "fish", "zsh"}:
        sys.exit("bash does not know the values of --completion")
    if bash_offers(scripts["bash"], ("run", "--", "")):
        sys.exit("bash takes the words of another program for the command's own")
    return len(commands), sum(len(options) for _, _, options in commands)


with tempfile.TemporaryDirectory() as work:
    print("%d commands with %d options: in pages and completion" % check(pathlib.Path(work)))
