"""Write docs/scenario.md from the table of fields: `python -m tools.scenario_table`."""

from pathlib import Path

from costmodel.scenario import FIELDS, Scenario, rule

TARGET = Path(__file__).parents[1] / "docs" / "scenario.md"
HEAD = """# The scenario

One frozen object that pages, command line, HTTP API and Python share (`costmodel.scenario.Scenario`). Written by
`python -m tools.scenario_table`; a test fails where it is out of date.

Units are SI and shares are fractions on the command line, in JSON and in Python. In an address shares are
percent, the speed is tokens per second and the time to the first token milliseconds. A value that breaks its
rule is refused in one sentence. Nothing typed means the default; "–" is no value.
"""
GROUPS = {
    "workload": "What is asked of the model.",
    "limits": "What the answer must meet.",
    "setup": "What answers it.",
}


def text() -> str:
    """Return the whole file."""
    parts = [HEAD.rstrip()]
    for group, what in GROUPS.items():
        parts.append(f"\n## {group.capitalize()}\n\n{what}\n")
        parts.append("| field | address | option | default | rule | meaning |")
        parts.append("| --- | --- | --- | --- | --- | --- |")
        for field in FIELDS:
            if field.group != group:
                continue
            default = Scenario.model_fields[field.name].default
            cells = (
                f"`{field.name}`",
                f"`{field.key}`" + (" (%)" if field.percent else ""),
                f"`{field.option}`",
                "–" if default is None else f"{default:g}" if isinstance(default, float) else str(default),
                rule(field.name),
                field.help,
            )
            parts.append("| " + " | ".join(cells) + " |")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
