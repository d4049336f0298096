"""Run the benches, print a table, write build/bench.json.

`python -m bench` runs all, `python -m bench web` those of bench/web.py.
"""

import importlib
import json
import pkgutil
import sys
from pathlib import Path
from statistics import median

import bench

TARGET = Path(__file__).parents[1] / "build" / "bench.json"


def main(chosen: list[str]) -> None:
    """Run the chosen modules' benches, or all."""
    known = [module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_")]
    if unknown := set(chosen) - set(known):
        raise SystemExit(f"No bench is called {', '.join(sorted(unknown))}: there are {', '.join(known)}.")
    for name in chosen or known:
        importlib.import_module(f"bench.{name}")
    # A run of a part keeps the other figures of the last whole run.
    results = json.loads(TARGET.read_text(encoding="utf-8")) if chosen and TARGET.exists() else {}
    print(f"{'name':34} {'median':>12} {'least':>12} {'most':>12}  unit      n")
    for function in bench.REGISTERED:
        for row in function():
            middle = median(row.samples)
            results[row.name] = {"median": middle, "unit": row.unit}
            low, high = min(row.samples), max(row.samples)
            print(f"{row.name:34} {middle:12.4g} {low:12.4g} {high:12.4g}  {row.unit:6} {len(row.samples):4}")
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")


main(sys.argv[1:])
