"""Refuse dependencies whose licences require more than keeping their notice.

Reads `cargo metadata` and prints the packages that may not be used; the exit status is 1 if there are any.
"""

import json
import subprocess
import sys

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
}


def allowed(expression: str) -> bool:
    """Whether an SPDX expression can be met by licences of ALLOWED alone.

    >>> allowed("MIT OR Apache-2.0"), allowed("MIT/Apache-2.0"), allowed("(MIT OR GPL-3.0) AND Unicode-3.0")
    (True, True, True)
    >>> allowed("GPL-3.0"), allowed("MIT AND LGPL-2.1"), allowed("")
    (False, False, False)
    """
    spaced = expression.replace("/", " OR ").replace("(", " ( ").replace(")", " ) ")
    value, rest = disjunction(spaced.split())
    return value and not rest


def disjunction(tokens: list[str]) -> tuple[bool, list[str]]:
    """Whether one of several alternatives is allowed, and the tokens after them."""
    value, tokens = conjunction(tokens)
    while tokens and tokens[0] == "OR":
        other, tokens = conjunction(tokens[1:])
        value = value or other
    return value, tokens


def conjunction(tokens: list[str]) -> tuple[bool, list[str]]:
    """Whether several licences, all of which apply, are allowed, and the tokens after them."""
    value, tokens = licence(tokens)
    while tokens and tokens[0] == "AND":
        other, tokens = licence(tokens[1:])
        value = value and other
    return value, tokens


def licence(tokens: list[str]) -> tuple[bool, list[str]]:
    """Whether a licence, or an expression in brackets, is allowed, and the tokens after it."""
    if not tokens:
        return False, []
    if tokens[0] == "(":
        value, rest = disjunction(tokens[1:])
        return value and rest[:1] == [")"], rest[1:]
    length = 3 if tokens[1:2] == ["WITH"] else 1
    return " ".join(tokens[:length]) in ALLOWED, tokens[length:]


def main() -> int:
    """Check every package that Cargo.lock names."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = metadata["packages"]
    refused = [package for package in packages if not allowed(package["license"] or "")]
    for package in refused:
        print(f"{package['name']} {package['version']}: the licence {package['license']!r} is not allowed")
    if not refused:
        print(f"the licences of all {len(packages)} packages are allowed")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
