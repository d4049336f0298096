"""Cost curve: what does one more sequence cost?"""

import streamlit as st

st.title("What does one more sequence cost?")
