#!/usr/bin/env python3
"""The agent's manual page and bash completion, of what it says itself: tidewatt-agent --help | tools/agent_help.py man|bash VERSION."""
import re
import sys


def roff(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.M)


def parsed(text):
    """Options as (words, meaning), and what stands beside them."""
    options = re.findall(r"^  (--\S+(?: \S+)?)\n      (.*)$", text, re.M)
    summary = text.split("\n")[1]
    examples = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.M)
    codes = re.search(r"^Exit codes: (.*)$", text, re.M)
    if len(options) < 10 or not examples or not codes:
        sys.exit("tools/agent_help.py: tidewatt-agent --help doesn't look as expected; change this script with it")
    return summary, options, examples.group(1), codes.group(1)


def man(text, version):
    summary, options, examples, codes = parsed(text)
    lines = [f'.TH TIDEWATT\\-AGENT 8 "" "tidewatt {version}" "Tidewatt"', ".SH NAME", f"tidewatt\\-agent \\- {roff(summary.rstrip('.'))}",
             ".SH SYNOPSIS", ".B tidewatt\\-agent", "[\\fB\\-\\-config\\fR \\fIFILE\\fR] [\\fISETTING\\fR...]", ".SH OPTIONS"]
    for words, meaning in options:
        name, _, value = words.partition(" ")
        lines += [".TP", f"\\fB{roff(name)}\\fR" + (f" \\fI{roff(value)}\\fR" if value else ""), roff(meaning)]
    lines += [".SH EXAMPLES", ".nf", roff(examples.rstrip("\n")), ".fi", ".SH EXIT STATUS", roff(codes), ".SH FILES", ".TP",
              ".I /etc/tidewatt/agent.yaml", "Settings, as the service reads them.", ".SH SEE ALSO", ".BR tidewatt (1)"]
    return "\n".join(lines) + "\n"


def bash(text, _version):
    words = " ".join(["-h"] + [option.split(" ")[0] for option, _ in parsed(text)[1]])
    return ("# bash completion for tidewatt-agent\n"
            f"complete -o default -W '{words}' tidewatt-agent\n")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("man", "bash"):
        sys.exit(__doc__)
    sys.stdout.write({"man": man, "bash": bash}[sys.argv[1]](sys.stdin.read(), sys.argv[2]))
