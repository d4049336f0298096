"""Write presets/config_defaults.json: what a Hugging Face config class fills in for absent keys.

Run in an environment with `transformers` (not a dependency of the project):

    python tools/config_defaults.py > presets/config_defaults.json

Only keys that `costmodel/importer` reads are kept, and only values that aren't null.
"""

import dataclasses
import json
import re
import sys
from pathlib import Path

import transformers

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from costmodel.importer.keys import SPELLINGS  # noqa: E402
from costmodel.importer.traits import ALIASES, TRAITS  # noqa: E402

UNREAD = {"layer_types", "layers_block_type", "dtype", "torch_dtype"}
"""Computed from the other values, or a property of the run."""


def keys_read() -> set[str]:
    """Return every key that the importer's source mentions."""
    text = "".join(p.read_text() for p in (ROOT / "costmodel/importer").glob("*.py"))
    quoted = set(re.findall(r'"([a-z][A-Za-z0-9_]+)"', text))
    return quoted | {s for spellings in SPELLINGS.values() for s in spellings}


def text_class(family: str) -> type | None:
    """Return the config class of a model type's language model, or None where there is none."""
    try:
        config = transformers.CONFIG_MAPPING[family]
    except KeyError:
        print(f"no class for {family}", file=sys.stderr)
        return None
    inner = getattr(config, "sub_configs", {}).get("text_config", config)
    return inner if dataclasses.is_dataclass(inner) and inner.__name__ != "AutoConfig" else None


def main() -> None:
    """Print the table as JSON, one family a line."""
    read = keys_read()
    families = {traits.defaults or name for name, traits in TRAITS.items()} - {"none"}
    rows = []
    for family in sorted(families | {name for name, base in ALIASES.items() if base}):
        config = text_class(family)
        if config is None:
            continue
        values = {}
        for field in dataclasses.fields(config):
            value = field.default
            if field.name in UNREAD or field.name not in read or isinstance(value, dict):
                continue
            if isinstance(value, bool | int | float | str):
                values[field.name] = value
        row = {"_class": config.__name__, **dict(sorted(values.items()))}
        rows.append(f"  {json.dumps(family)}: {json.dumps(row)}")
    source = f"default values of the config classes of transformers {transformers.__version__}"
    print("{\n  " + f'"_source": {json.dumps(source)},\n' + ",\n".join(rows) + "\n}")


if __name__ == "__main__":
    main()
