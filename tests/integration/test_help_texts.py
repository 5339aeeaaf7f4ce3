"""--help, manual pages and shell completion have one source: every command and option stands in each of them."""
import re
import shutil
import subprocess

import pytest
from support.server import SLOW, clean_environment


def run(*command, stdin=None):
    return subprocess.run(command, capture_output=True, text=True, timeout=60 * SLOW, input=stdin, env=clean_environment())


def said(*command):
    told = run(*command)
    assert told.returncode == 0, told
    return told.stdout


@pytest.fixture(scope="module")
def commands(tidewatt):
    """Every command's words -> its --help, found by walking the helps themselves."""
    found, waiting = {}, [()]
    while waiting:
        words = waiting.pop()
        found[words] = said(tidewatt, *words, "--help")
        below = re.search(r"^Subcommands:\n((?:  .*\n)+)", found[words], re.M)
        if below:
            waiting += [(*words, name) for name in re.findall(r"^  ([a-z][a-z0-9-]*)(?= |$)", below.group(1), re.M)]
    assert len(found) > 30 and ("energy", "node") in found, sorted(found)
    return found


def options_of(help_text):
    """Long names, from the lines that begin with one ("  -h,--help", "  --json")."""
    out = set()
    for line in help_text.splitlines():
        begin = re.match(r"  (?:-\w,)?(--[a-z][a-z0-9-]*)", line)
        if begin:
            out.add(begin.group(1))
    return out


def test_every_command_that_does_something_has_help_with_an_example(commands):
    without = [" ".join(words) for words, text in commands.items() if "Subcommands:" not in text and "Example" not in text]
    assert not without, without


def test_every_command_and_option_has_its_place_in_the_manual(tidewatt, commands, tmp_path):
    assert said(tidewatt, "man", "--to", str(tmp_path)) == ""
    assert {page.name for page in tmp_path.iterdir()} == {"-".join(["tidewatt", *words]) + ".1" for words in commands}
    for words, text in commands.items():
        page = (tmp_path / ("-".join(["tidewatt", *words]) + ".1")).read_text()
        plain = page.replace("\\-", "-")
        assert page == said(tidewatt, "man", *words)
        missing = [option for option in options_of(text) if f"\\fB{option}\\fR" not in plain]
        assert not missing, (words, missing)
        for below in (other for other in commands if other and other[:-1] == words):
            assert f".B {below[-1]}\n" in plain, (words, below)


@pytest.mark.skipif(shutil.which("man") is None, reason="man isn't installed")
def test_manual_pages_are_without_warnings(tidewatt, tidewatt_agent, tmp_path):
    said(tidewatt, "man", "--to", str(tmp_path))
    for page in tmp_path.iterdir():
        told = subprocess.run(["man", "--warnings", "-l", "-E", "UTF-8", "-Tutf8", "-Z", str(page)], capture_output=True, text=True, timeout=60 * SLOW,
                              env={**clean_environment(), "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"}, check=False)
        assert told.returncode == 0 and told.stderr == "", (page.name, told.stderr)


def complete_in_bash(script, line):
    """What bash offers for this line; the last word is the one being typed."""
    words = line.split(" ")
    asked = (f'source "{script}"; COMP_WORDS=({" ".join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; '
             '_tidewatt; printf "%s\\n" "${COMPREPLY[@]}"')
    return set(said("bash", "--norc", "-euc", asked).split())


@pytest.fixture(scope="module")
def bash_script(tidewatt, tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "tidewatt.bash"
    path.write_text(said(tidewatt, "completion", "bash"))
    return path


def test_bash_completes_every_command_and_option(commands, bash_script):
    for words, text in commands.items():
        offered = complete_in_bash(bash_script, " ".join(["tidewatt", *words, ""]))
        below = {other[-1] for other in commands if other and other[:-1] == words}
        assert offered - {"-h"} == options_of(text) | below, (words, offered ^ (options_of(text) | below))


def test_bash_completes_the_word_begun_and_values_from_a_list(bash_script):
    assert complete_in_bash(bash_script, "tidewatt en") == {"energy"}
    assert complete_in_bash(bash_script, "tidewatt energy node --js") == {"--json"}
    assert complete_in_bash(bash_script, "tidewatt ledger export --format ") == {"csv", "json"}
    # A value that can be anything is left to the shell's own completion of files.
    assert complete_in_bash(bash_script, "tidewatt server --config ") == set()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_know_every_command_and_option_and_can_read_the_script(tidewatt, commands, tmp_path, shell):
    script = said(tidewatt, "completion", shell)
    for words, text in commands.items():
        path = " ".join(["tidewatt", *words])
        if shell == "zsh":
            line = next(line for line in script.splitlines() if line.startswith(f"    '{path}') commands="))
            missing = [option for option in options_of(text) if f"'{option}:" not in line]
        else:
            at = [line for line in script.splitlines() if f"__tidewatt_at \\'{path}\\'" in line]
            missing = [option for option in options_of(text) if not any(f" -l {option[2:]} " in line for line in at)]
        assert not missing, (words, missing)
    if shutil.which(shell):
        path = tmp_path / "script"
        path.write_text(script)
        told = run(shell, "-n", str(path))
        assert told.returncode == 0 and told.stderr == "", told.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish isn't installed")
def test_fish_offers_options_of_the_command_at_hand(tidewatt, tmp_path):
    path = tmp_path / "tidewatt.fish"
    path.write_text(said(tidewatt, "completion", "fish"))
    told = said("fish", "--no-config", "-c", f"source {path}; complete -C 'tidewatt energy node --js'; complete -C 'tidewatt en'")
    assert "--json" in told and "energy" in told and "forecast" not in told, told


@pytest.mark.parametrize("typed,meant", [(["energi"], '"energy"'), (["energy", "node", "n1", "--jsn"], "--json"),
                                         (["server", "--sampel-config"], "--sample-config"), (["energy", "nod", "n1"], '"node"')])
def test_a_slip_of_the_keyboard_is_told_what_was_meant(tidewatt, typed, meant):
    told = run(tidewatt, *typed)
    assert told.returncode == 2 and f"Did you mean {meant}?" in told.stderr, told


def test_what_is_near_to_nothing_gets_no_suggestion(tidewatt):
    told = run(tidewatt, "energy", "node", "n1", "--frobnicate-everything")
    assert told.returncode == 2 and "Did you mean" not in told.stderr, told


@pytest.mark.parametrize("wrong", [["completion", "tcsh"], ["completion"], ["man", "frob"], ["man", "energy", "frob"]])
def test_an_unknown_shell_or_page_is_a_wrong_use(tidewatt, wrong):
    told = run(tidewatt, *wrong)
    assert told.returncode == 2 and told.stdout == "", told


def test_a_folder_for_pages_that_cannot_be_made_is_named(tidewatt, tmp_path):
    (tmp_path / "file").write_text("")
    told = run(tidewatt, "man", "--to", str(tmp_path / "file" / "man"))
    assert told.returncode == 1 and "--to" in told.stderr, told
