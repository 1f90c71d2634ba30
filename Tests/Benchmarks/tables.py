"""Markdown tables."""


def table(title, columns, rows):
    """Prints a table: `columns` are headings, `rows` lists of cells; numbers come as text already."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def verdicts(columns, rows):
    """Prints figures beside what they must be and what is aimed at.

    `rows` are (what, must, aim, cells); a cell is (text, whether the must is met or None), one for each column.
    """
    print("\n| | must | aim | " + " | ".join(columns) + " |")
    print("|---|---|---|" + "---|" * len(columns))
    for what, must, aim, cells in rows:
        texts = [text + {True: "", False: ", **missed**", None: ""}[met] for text, met in cells]
        print(f"| {what} | {must} | {aim} | " + " | ".join(texts) + " |")


def ratio(here, other, least=None, most=None):
    """A ratio as text, and whether it is within its bound."""
    value = round(here / other, 2)
    if least is None and most is None:
        return f"{value:.2f} ×", None
    return f"{value:.2f} ×", (least is None or value >= least) and (most is None or value <= most)
