#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Small rules about the text of sources: licence line, size of files, banned functions, unfinished
work, plain English.
"""

import re
import sys

import sources

SOURCE = {".c", ".h", ".cpp", ".js", ".mjs", ".css", ".py", ".sh"}
MAX_LINES = 1000
LICENCE = "SPDX-License-Identifier: Apache-2.0"

BANNED = {
    r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|mktemp|tmpnam)\s*\(":
        "use the bounded or checking way",
    r"(?<![\w.>])(localtime|gmtime|ctime|asctime|strerror)\s*\(": "not safe with threads",
    r"\b(system|popen)\s*\(": "no shell: base/process.h",
}
# A comment begins with its subject and keeps to the width of the code.
COMMENT = re.compile(r"^\s*(?:/\*|\*)(?:\s|$)")
INVERTED = re.compile(r"^\s*(?:/\*|\*)\s+(?:Of|So many|As many|The same for who|Whose) ")
A_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|(?P<comment>/\*.*?\*/|//[^\n]*)',
                       re.S)
MAX_COMMENT_COLUMNS = 100
MAX_C_COLUMNS = 105
# Phrases that a native engineer would not write, with a replacement.
FOREIGN = {
    r"\bin earnest\b": "actually, really",
    r"\bjust pending\b": "already pending",
    r"\bthe same for who\b": "as above, with ...",
    r"\b(?:he|she|one|that|those) who (?:has|have) the\b": "name the thing",
    r"\ball rows there are\b": "every row",
}
# Translated English: a noun clause or a fragment instead of a sentence, a negated noun, words from other
# trades.
NOUN_CLAUSE = re.compile(
    r"(?:What|Who|Whoever|Whose|Whom|Those|Beside|So much|So many|As many)\b(?![^.]*\?)")
TRANSLATED = {
    r"(?<!there )\b(?:is|are|was|were) no (?!longer|more\b|less\b|fewer\b|matter)": "is not a ...",
    r"\b(?:is|are|was|were) none\b": "if none, or name what is missing",
    r"\bwhom\b": "name the person or thing",
    r"\bwhoever\b": "name who or what it is",
    r"\b(?:dear|price)\b": "expensive, cost",
    r"\b(?:told|tells|telling)\b": "reports, shows, distinguishes",
    r"\bmend(?:s|ed)?\b": "fix",
    r"(?:^|[.:] )(?:Counted|Judged|Needed|Related|Shown|Tested|Left out) (?:is|are)\b":
        "begin with the subject",
    r"\bat hand\b": "available, current",
    r"\b(?:on its way|under way)\b": "pending, running",
    r"\b(?:come|came) to that\b": "say what did not happen",
    r"\bbeside\b": "next to, in parallel, with",
    r"\bgo(?:es)? on\b(?! with)": "continue",
    r"\b(?:rows?|lines?|pairs?|executions?|repetitions?) a (?:side|pair|benchmark|row|step"
    r"|repetition|call|commit)\b": "per",
}
# Names of tests are read as sentences.
FOREIGN_NAME = re.compile(
    r"^(?:static void |FG_(?:SERVER_)?TEST(?:_IN)?\()\w*_"
    r"(?:told|tells|said|goes_on|asked_for|whom|whoever|dear|beside"
    r"|(?<!there_)(?:is|are)_no(?!_longer|t|w|d))(?:_\w+)?(?:\(void \*\*|[,)])")
PROSE = SOURCE | {".md", ".cmake", ".txt", ".yml"}
OLD_PREFIX = re.compile(r"\b(?:fg|FG)__\w")
OTHER_STATUS = re.compile(r"\bint (?:rc|ret|retval)\b")

ANY_FOREIGN = re.compile("|".join(f"(?:{pattern})" for pattern in FOREIGN), re.IGNORECASE)
ANY_TRANSLATED = re.compile("|".join(f"(?:{pattern})" for pattern in TRANSLATED), re.IGNORECASE)
ANY_BANNED = re.compile("|".join(f"(?:{pattern})" for pattern in BANNED))

# Files about these words must contain them.
ABOUT_WORDS = {"scripts/check-words.py", "tests/lint/words-catches.sh"}

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def sentences(name, text):
    """(line, words) of each comment in a source, or of each paragraph in a document."""
    if name.endswith(".md"):
        prose = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text,
                       flags=re.M | re.S)
        for match in re.finditer(r"(?:^(?!```).+\n?)+", prose, re.M):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split())
        return
    for match in A_COMMENT.finditer(text):
        if match["comment"]:
            words = re.sub(r"^\s*(?:/?\*+/?|//) ?|\*/$", "", match["comment"], flags=re.M)
            yield text.count("\n", 0, match.start()) + 1, " ".join(words.split())


def translated(name, text):
    """Finds English that is not native."""
    if not name.endswith((".c", ".h", ".cpp", ".js", ".md")):
        return
    for line, words in sentences(name, text):
        if not name.endswith(".md") and NOUN_CLAUSE.match(words):
            yield line, f"a comment is a sentence or a noun, not a clause: {words[:50]}"
        if ANY_TRANSLATED.search(words):
            for pattern, better in TRANSLATED.items():
                found = re.search(pattern, words, re.IGNORECASE)
                if found:
                    yield line, f"plain English for '{found[0].strip()}': {better}"


def problems(name, text):
    yield from translated(name, text)
    lines = text.splitlines()
    if lines and name.endswith(tuple(SOURCE)) and not any(LICENCE in line for line in lines[:3]):
        yield 1, f"the first lines name no licence ({LICENCE})"
    if len(lines) > MAX_LINES:
        yield MAX_LINES + 1, f"{len(lines)} lines: a file has at most {MAX_LINES}"
    for number, line in enumerate(lines if ANY_FOREIGN.search(text) else [], 1):
        for pattern, better in FOREIGN.items():
            if re.search(pattern, line, re.IGNORECASE):
                yield number, f"plain English: {better}"
    if not name.endswith(tuple(SOURCE)):
        return
    has_banned = ANY_BANNED.search(text)
    in_c = name.endswith((".c", ".h")) and not name.startswith("tests/targets/")
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, "unfinished work is not landed"
        if in_c and COMMENT.match(line):
            if INVERTED.match(line) and (line.lstrip().startswith("/*")
                                         or lines[number - 2].strip() == "/*"):
                yield number, "a comment begins with its subject"
            if len(line.expandtabs(8)) > MAX_COMMENT_COLUMNS:
                yield number, f"comments keep to {MAX_COMMENT_COLUMNS} columns"
        if name.endswith((".c", ".h")) and len(line.expandtabs(8)) > MAX_C_COLUMNS:
            yield number, f"C keeps to {MAX_C_COLUMNS} columns; strings are split"
        if in_c and OLD_PREFIX.search(line):
            yield number, "functions begin with fg_: headers say what is private"
        if in_c and FOREIGN_NAME.match(line):
            yield number, "the name of a test is plain English, too: reported, distinguished, is not a"
        if in_c and OTHER_STATUS.search(line):
            yield number, "what a function returns is kept in `status`"
        if not in_c or name.startswith(("collector/", "examples/", "bench/")) or not has_banned:
            continue
        code = re.sub(r'"(?:[^"\\]|\\.)*"|//.*|^\s*\*.*|/\*.*', "", line)
        for pattern, why in BANNED.items():
            if re.search(pattern, code):
                yield number, f"banned function: {why}"


def is_read(name):
    return name.endswith(tuple(PROSE)) and name not in ABOUT_WORDS


if __name__ == "__main__":
    sys.exit(sources.check(sys.argv[1], is_read, problems))
