"""Everything that turns SI into what people read."""
