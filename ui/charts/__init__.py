"""Figures: from result arrays to plain Plotly dictionaries. No Streamlit, no formula of the model."""
