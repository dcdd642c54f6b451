"""Statistics, units, quantities and formulas. Nothing here knows the project."""
