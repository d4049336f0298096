"""What a token costs: a vectorised model of LLM inference.

`scenario` makes a checked scenario; `explore` answers it: `point`, `knee`, `model_card`,
`memory_report`. docs/model.md has every formula, docs/python.md runnable examples.
"""
