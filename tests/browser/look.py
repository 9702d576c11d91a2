"""Screenshots of a page, for a person to look at: `python3 look.py FILE FOLDER [SELECTOR ...]`."""

import sys
from pathlib import Path

import chromium


def main() -> int:
    """Write the page, or the first element that matches each selector, wide and narrow, light and dark."""
    page_file, folder, *selectors = sys.argv[1:]
    executable = chromium.find()
    if executable is None:
        print("there is no chromium here", file=sys.stderr)
        return 1
    with chromium.Page(executable) as page:
        for width, dark in ((1280, False), (1280, True), (400, False)):
            page.view(width, dark=dark)
            page.open(Path(page_file))
            for selector in selectors or ["html"]:
                name = f"{selector.strip('#.')}-{width}{'-dark' if dark else ''}.png"
                page.screenshot(Path(folder) / name, selector)
    return 0


if __name__ == "__main__":
    sys.exit(main())
