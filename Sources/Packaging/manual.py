"""Makes the man page of what the commands say about themselves.

    countersign --experimental-dump-help | python3 manual.py VERSION SECONDS > countersign.1

SECONDS since 1970 date the page. Options that every command has are described once.
"""

import json
import sys
import time


def escaped(text):
    """Text that roff prints as it stands: no character of it is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "\\&...").replace("’", "\\(cq")
    lines = [line.strip() for line in text.split("\n")]
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines if line)


def names(argument):
    """`-h, --help` with the value's name behind it, or the value's name alone."""
    value = f"\\fI{escaped(argument.get('valueName', ''))}\\fR"
    if argument["kind"] == "positional":
        return value
    shown = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument["names"]]
    text = ", ".join(f"\\fB{escaped(name)}\\fR" for name in sorted(shown, key=len))
    return text if argument["kind"] == "flag" else f"{text} {value}"


def short(argument):
    """The argument as the synopsis has it."""
    text = names({**argument, "names": [argument["preferredName"]]} if "names" in argument else argument)
    text += " ..." if argument["isRepeating"] else ""
    return f"[{text}]" if argument["isOptional"] else text


def described(argument):
    """The argument as a paragraph with a tag."""
    lines = [argument.get("abstract", ""), argument.get("discussion", "")]
    if argument.get("defaultValue"):
        lines.append(f"Default: {argument['defaultValue']}.")
    if argument.get("allValues"):
        lines.append(f"One of: {', '.join(argument['allValues'])}.")
    return [".TP", names(argument), "\n".join(escaped(line) for line in lines if line) or "\\&"]


def key(argument):
    """What makes two arguments the same."""
    return json.dumps(argument, sort_keys=True)


def shown(command):
    """The arguments that the help shows."""
    return [argument for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)]


def leaves(command, before=()):
    """The commands that do something, each with its words."""
    words = (*before, command["commandName"])
    below = [sub for sub in command.get("subcommands", []) if sub.get("shouldDisplay", True)]
    if not below:
        yield " ".join(words), command
    for sub in below:
        yield from leaves(sub, words)


def page(tool, version, seconds):
    """The whole page, line by line."""
    root = tool["command"]
    commands = [(words, command) for words, command in leaves(root) if command["commandName"] != "help"]
    sets = [{key(argument) for argument in shown(command)} for _, command in commands]
    common = set.intersection(*sets)
    date = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    yield f'.TH COUNTERSIGN 1 "{date}" "countersign {version}" "User Commands"'
    yield ".SH NAME"
    yield f"countersign \\- {escaped(root['abstract'][0].lower() + root['abstract'][1:].rstrip('.'))}"
    yield ".SH SYNOPSIS\n.B countersign\n.I command\n[\\fIargument\\fR ...]"
    yield ".SH DESCRIPTION"
    yield escaped(root.get("discussion", root["abstract"]))
    yield ".SH OPTIONS OF EVERY COMMAND"
    for argument in shown(commands[0][1]):
        if key(argument) in common:
            yield from described(argument)
    yield ".SH COMMANDS"
    for words, command in commands:
        own = [argument for argument in shown(command) if key(argument) not in common]
        yield f".SS {escaped(words)}"
        yield f"\\fB{escaped(words)}\\fR {' '.join(short(argument) for argument in own)}".rstrip()
        yield ".PP"
        yield escaped(command.get("abstract", ""))
        for paragraph in filter(None, command.get("discussion", "").split("\n\n")):
            yield ".PP\n" + escaped(paragraph)
        for argument in own:
            yield from described(argument)
    yield from FOOT


FOOT = [
    ".SH FILES",
    ".TP\n\\fI/etc/countersign/countersign.yaml\\fR\nOptions of the installed service.",
    ".TP\n\\fI/etc/countersign/policies\\fR\nThe policies.",
    ".TP\n\\fI/var/lib/countersign\\fR\nKeys and store.",
    ".SH SEE ALSO\nIn \\fI/usr/share/doc/countersign\\fR: first steps in \\fIREADME.Debian\\fR, options and metrics in "
    "\\fIOperating.md\\fR, tasks in \\fIAdministration.md\\fR, what to do if something fails in \\fIRunbooks.md\\fR, the "
    "calls in \\fIProtocol.md\\fR, and what changed in \\fIChanges.md\\fR.",
]

if __name__ == "__main__":
    print("\n".join(page(json.load(sys.stdin), sys.argv[1], int(sys.argv[2]))))
