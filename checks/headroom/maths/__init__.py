"""Statistics, units, quantities and formulas, independent of the rest of the project."""
