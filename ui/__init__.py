"""What people see: controls, charts, words and units. Imports the engine, never the other way."""
