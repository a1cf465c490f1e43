"""Measures loads against bare COPY, side by side in one run."""
