"""Artifacts, and one rung of the load ladder: what a measured process does. Imports torch."""
