"""Plots of claims as inline SVG, readable in dark mode, in print and without colour."""
