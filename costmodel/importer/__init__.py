"""Turn a Hugging Face config.json into a `Model`.

>>> tiny = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100,
...         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
>>> load(tiny).total_params
86848
"""

from pathlib import Path
from typing import Any

from costmodel.importer.build import model
from costmodel.importer.read import values
from costmodel.mixers import with_kv_heads
from costmodel.model import Model

__all__ = ["load", "with_kv_heads"]


def load(source: dict[str, Any] | str | Path, *, name: str = "") -> Model:
    """Return the model that a Hugging Face config describes.

    Parameters
    ----------
    source : dict or str or Path
        The config, its JSON text (anything that starts with a brace), or a path to it.
    name : str, optional
        The model's Hugging Face id; the config's own name where it is empty.

    Raises
    ------
    InputError
        When the config can't be read, or doesn't describe a model of a known architecture; the
        sentence names the key, the rule, the value and what to do.
    """
    return model(values(source), name=name)
