"""Count a config's parameters with the model class itself: a row of tests/golden/param_counts.json.

Run in an environment with `transformers` and `torch` (not dependencies of the project); nothing is
downloaded or allocated, since the class is instantiated on torch's meta device:

    python tools/count_params.py NAME < config.json
"""

import json
import sys

import torch
import transformers

STORED = ("correction_bias", "expert_bias", "layer_scalar", "balancing_biases")
"""Buffers that checkpoints store and the model multiplies or adds."""


def count(config: dict[str, object]) -> int:
    """Return the parameters of the language model that a config describes, a tied table once."""
    kept = {k: v for k, v in config.items() if not k.startswith("_") and k != "model_type"}
    kept.pop("quantization_config", None)
    whole = transformers.CONFIG_MAPPING[config["model_type"]](**kept)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(whole.get_text_config(decoder=True))
    model.tie_weights()
    stored = (b for name, b in model.named_buffers() if any(word in name for word in STORED))
    return sum(p.numel() for p in model.parameters()) + sum(b.numel() for b in stored)


def main() -> None:
    """Print the row."""
    config = json.load(sys.stdin)
    row = {"name": sys.argv[1], "params": count(config), "config": config}
    print(json.dumps(row, separators=(",", ":")))


if __name__ == "__main__":
    main()
