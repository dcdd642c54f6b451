"""The site's content: claim links, badges, claim pages, plots and exports, all independent of MkDocs."""
