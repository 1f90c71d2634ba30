"""Markdown tables."""


def table(title, columns, rows):
    """Prints a table: `columns` are headings, `rows` lists of cells; numbers come as text already."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def verdicts(rows):
    """Prints figures beside what they must be and what is aimed at: (what, must, aim, here, is met or None)."""
    print("\n| | must | aim | here | |\n|---|---|---|---|---|")
    for what, must, aim, here, met in rows:
        print(f"| {what} | {must} | {aim} | {here} | {'' if met is None else 'met' if met else '**missed**'} |")


def ratio(here, other, least=None, most=None):
    """A ratio as text, and whether it is within its bound."""
    value = here / other
    met = None if least is None and most is None else (least is None or value >= least) and (most is None or value <= most)
    return f"{value:.2f} ×", met
