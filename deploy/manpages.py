#!/usr/bin/env python3
"""Writes man pages from what the command says about itself.

    deploy/manpages.py TRAWL DIRECTORY

One page for the command and one for each subcommand. Options, descriptions and exit statuses come from
`TRAWL --experimental-dump-help`; only the examples, variables of the environment and files are kept here. The date is that of
SOURCE_DATE_EPOCH, else today.
"""
import json, os, subprocess, sys, textwrap, time

EXAMPLES = {
    "trawl": [
        ("A page to standard output, as curl writes it:", "trawl https://example.org/"),
        ("A list of any length into files, 64 at a time:", "trawl batch urls.txt --out pages --results results.ndjson"),
    ],
    "trawl-get": [
        ("Follow redirects, and write a file when it is complete:", "trawl get -L -o page.html https://example.org/"),
        ("Send JSON:", "trawl get --json '{\"a\":1}' https://example.org/items"),
        ("Only the status and the time it took:",
         "trawl get -o /dev/null -w '%{http_code} %{time_total}\\n' https://example.org/"),
    ],
    "trawl-batch": [
        ("A list into files named by host and path, with a record of each request:",
         "trawl batch urls.txt --out pages --results results.ndjson"),
        ("The same command again does what is not done yet, however the first one ended; with failures once more:",
         "trawl batch urls.txt --out pages --results results.ndjson --retry-failed"),
        ("Check links, keep no bodies, and show what failed:",
         "trawl batch urls.gz --no-files --fail --results - | grep '\"ok\":false'"),
    ],
    "trawl-cache": [
        ("What is stored of a host, and one body of it:",
         "trawl cache ls example.org\ntrawl cache get http://example.org/a.html"),
        ("Make it smaller, and check what is left:", "trawl cache prune --size 500M && trawl cache verify"),
    ],
    "trawl-status": [
        ("The rates of all that runs, for a program:", "trawl status --json | jq .traffic.received_per_second"),
    ],
    "trawl-pipe": [
        ("One request, one response:", "echo '{\"id\":1,\"url\":\"https://example.org/\"}' | trawl pipe"),
    ],
}

FETCHING = {"trawl", "trawl-get", "trawl-batch", "trawl-pipe"}
STORING = FETCHING | {"trawl-cache", "trawl-cookies"}
WATCHING = {"trawl", "trawl-batch", "trawl-pipe", "trawl-status", "trawl-top"}

# Names, what they say, and the pages where they stand. docs/configuration.md has all of it.
VARIABLES = [
    (["http_proxy"], "The proxy of http URLs. HTTP_PROXY is not read.", FETCHING),
    (["https_proxy", "HTTPS_PROXY"], "The proxy of https URLs.", FETCHING),
    (["all_proxy", "ALL_PROXY"], "The proxy of both, where there is no other.", FETCHING),
    (["no_proxy", "NO_PROXY"], "Hosts that need none, parted by commas or spaces.", FETCHING),
    (["auto_proxy"], "A proxy script, for URLs that no other variable names a proxy for.", FETCHING),
    (["TRAWL_USER_AGENT"], "The User-Agent where -A gives none.", FETCHING),
    (["TRAWL_WORKERS"], "Worker processes where --workers gives no number.", FETCHING),
    (["TRAWL_WORKER_EXECUTABLE"], "The program that is started as worker, in place of this one.", FETCHING),
    (["XDG_CACHE_HOME"], "Where the store is. Without it ~/.cache.", STORING),
    (["XDG_CONFIG_HOME"], "Where the vault is. Without it ~/.config.", {"trawl", "trawl-auth"}),
    (["XDG_RUNTIME_DIR"], "Where status sockets are. Without it trawl-UID in TMPDIR or /tmp.", WATCHING),
]
FILES = [
    (["$XDG_CACHE_HOME/trawl", "~/.cache/trawl"],
     "The store: stored responses, cookies, and hosts that want secure transport.", STORING),
    (["$XDG_CONFIG_HOME/trawl/vault", "~/.config/trawl/vault"], "The vault, sealed with a passphrase.",
     {"trawl", "trawl-auth"}),
    (["~/.netrc"], "Users and passwords; read with -n alone.", FETCHING),
    (["$XDG_RUNTIME_DIR/trawl/PID.sock", "/tmp/trawl-UID/PID.sock"], "The status socket of a process.", WATCHING),
]


def roff(text):
    """Text in the language of man pages: no character of it means anything to the formatter."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    text = text.replace("`", "\\(ga").replace("'", "\\(aq").replace('"', "\\(dq")
    return "\\&" + text if text.startswith(".") else text


def prose(text):
    """As `roff`, for sentences: hyphens may be broken at and stay hyphens; dashes in front of options do not."""
    words = []
    for word in text.split():
        escaped = roff(word)
        if not word.lstrip("('\"").startswith("-") and "://" not in word:
            escaped = escaped.replace("\\-", "-")
        words.append(escaped)
    return " ".join(words)


def lines(text):
    """A paragraph with each sentence on a line of its own, as the formatter wants to know where they end."""
    result = prose(text)
    for end in (". ", "? "):
        result = result.replace(end, end.strip() + "\n")
    short = [part for line in result.split("\n")
             for part in textwrap.wrap(line, 78, break_long_words=False, break_on_hyphens=False)]
    return "\n".join("\\&" + line if line.startswith(".") else line for line in short)


def paragraphs(text):
    return [" ".join(paragraph.split()) for paragraph in (text or "").split("\n\n") if paragraph.strip()]


def spelled(argument):
    """`-o, --output FILE` in bold and italics."""
    names = []
    for name in argument.get("names", []):
        dashes = "--" if name["kind"] == "long" else "-"
        names.append("\\fB" + roff(dashes + name["name"]) + "\\fR")
    value = f" \\fI{roff(argument['valueName'])}\\fR" if argument["kind"] == "option" else ""
    return ", ".join(names) + value


def described(argument):
    text = argument.get("abstract", "")
    values = argument.get("allValues") or argument.get("allValueStrings")
    if values and not all(value in text for value in values):
        text += f" One of: {', '.join(values)}."
    return text or "No description."


def synopsis(command, name):
    parts = [f"\\fB{name.replace('-', ' ')}\\fR"]
    shown = [a for a in command.get("arguments", []) if a.get("shouldDisplay", True)]
    if any(a["kind"] != "positional" for a in shown):
        parts.append("[\\fIoptions\\fR]")
    for argument in shown:
        if argument["kind"] == "positional":
            text = f"\\fI{roff(argument['valueName'])}\\fR" + (" ..." if argument.get("isRepeating") else "")
            parts.append(f"[{text}]" if argument.get("isOptional") else text)
    if any(sub["commandName"] != "help" for sub in command.get("subcommands", [])):
        parts[1:] = ["\\fIsubcommand\\fR ..."]
    return " ".join(parts)


def optional(command):
    """Its arguments that are options and meant to be seen."""
    return [a for a in command.get("arguments", []) if a.get("shouldDisplay", True) and a["kind"] != "positional"]


def is_common(argument, subcommands):
    """Whether most of the subcommands have it."""
    return sum(argument in optional(sub) for sub in subcommands) > len(subcommands) / 2


def page(command, name, version, date, others):
    """One man page. `others` are the pages to be named at its end, and for the root what its subcommands are."""
    subcommands = [c for c in command.get("subcommands", []) if c.get("shouldDisplay", True)]
    abstract = command.get("abstract", "").rstrip(".")
    abstract = abstract[:1].lower() + abstract[1:]
    out = [f'.TH {name.upper()} 1 {date} "trawl {version}" "User Commands"', ".SH NAME",
           f"{name} \\- {prose(abstract)}", ".SH SYNOPSIS"]
    if subcommands:
        for sub in subcommands:
            if sub["commandName"] != "help":
                out += [synopsis(sub, f"{name}-{sub['commandName']}"), ".br"]
        if name == "trawl":
            out += ["\\fBtrawl\\fR [\\fIoptions\\fR] \\fIurl\\fR ...", ".br",
                    "\\fBtrawl help\\fR [\\fIsubcommand\\fR]"]
        else:
            out.pop()
    else:
        out.append(synopsis(command, name))

    out.append(".SH DESCRIPTION")
    statuses, body = [], []
    for paragraph in paragraphs(command.get("discussion")):
        (statuses if paragraph.startswith("Exit status") else body).append(paragraph)
    for index, paragraph in enumerate(body or [command.get("abstract", "")]):
        out += ([".PP"] if index else []) + [lines(paragraph)]
    if subcommands:
        out.append(".SH SUBCOMMANDS")
        for sub in subcommands:
            if sub["commandName"] == "help" and name != "trawl":
                continue
            out += [".TP", f"\\fB{sub['commandName']}\\fR", lines(sub.get("abstract", ""))]
            for paragraph in paragraphs(sub.get("discussion")) if name != "trawl" else []:
                out.append(lines(paragraph))

    sections = {}
    if name != "trawl":
        # One page for all: what each subcommand has alone, then what most of them have.
        for sub in subcommands:
            for argument in optional(sub):
                title = "Common options" if is_common(argument, subcommands) else f"Options of {sub['commandName']}"
                if argument not in sections.setdefault(title, []):
                    sections[title].append(argument)
        sections = {title: sections[title] for title in sorted(sections, key=lambda title: title == "Common options")}
    for argument in optional(command) if not sections else []:
        sections.setdefault(argument.get("sectionTitle") or "Options", []).append(argument)
    if sections:
        out.append(".SH OPTIONS")
    for title, arguments in sections.items():
        if len(sections) > 1:
            out.append(f".SS {prose(title)}")
        for argument in arguments:
            out += [".TP", spelled(argument), lines(described(argument))]

    out += named("ENVIRONMENT", VARIABLES, name) + named("FILES", FILES, name)
    if statuses:
        out.append(".SH EXIT STATUS")
        for index, paragraph in enumerate(statuses):
            out += ([".PP"] if index else []) + [lines(sentence(paragraph))]
    if EXAMPLES.get(name):
        out.append(".SH EXAMPLES")
        for index, (text, command_line) in enumerate(EXAMPLES[name]):
            out += ([".PP"] if index else []) + [lines(text), ".PP", ".RS 4", ".nf", *map(roff, command_line.split("\n")), ".fi", ".RE"]
    out.append(".SH SEE ALSO")
    links = [other for other in others if other != name] + ["curl"]
    out += [f".BR {roff(other)} (1)" + ("," if other != links[-1] else "") for other in links]
    out += [".PP", lines("The files in share/doc/trawl, beside bin: configuration.md, operations.md, lists.md, results.md, pipe.md, cache.md and what they name.")]
    return "\n".join(out) + "\n"


def named(title, entries, name):
    """A section of things that have names, where this page has some."""
    out = []
    for names, text, pages in entries:
        if name in pages:
            out += [".TP", ", ".join(f"\\fB{roff(each)}\\fR" for each in names), lines(text)]
    return [f".SH {title}", *out] if out else []


def sentence(text):
    """`Exit status: 0 …` without the words that are the heading already."""
    if text.startswith("Exit status: "):
        text = text.removeprefix("Exit status: ")
        return text[:1].upper() + text[1:]
    return text


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    trawl, directory = sys.argv[1:]
    root = json.loads(subprocess.run([trawl, "--experimental-dump-help"], check=True, capture_output=True).stdout)
    version = subprocess.run([trawl, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    command = root["command"]
    pages = {command["commandName"]: command}
    for sub in command.get("subcommands", []):
        if sub.get("shouldDisplay", True) and sub["commandName"] != "help":
            pages[f"{command['commandName']}-{sub['commandName']}"] = sub
    os.makedirs(directory, exist_ok=True)
    for name, described_command in pages.items():
        with open(os.path.join(directory, name + ".1"), "w") as file:
            file.write(page(described_command, name, version, date, list(pages)))


if __name__ == "__main__":
    main()
