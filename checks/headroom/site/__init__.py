"""What a reader sees: claim links and badges in pages, claim pages, plots and exports.

Nothing here knows MkDocs; ``headroom.mkdocs_plugin`` is the adapter that does.
"""
