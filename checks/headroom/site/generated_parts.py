"""Parts of pages that are made from records: an empty link that stands alone on a line is replaced with its part."""

from headroom.pages.estimate_targets import TABLE as ESTIMATE_TABLE
from headroom.pages.link_targets import METHODS
from headroom.site import (
    accelerator_tables,
    install_command,
    memory_error_tables,
    methods_table,
    plan_tables,
    predicted_figures,
)
from headroom.site.memory_tool import parts as memory_parts
from headroom.site.method_finder import start_page
from headroom.site.site_data import PageContext, SiteData

SCHEMES = (
    METHODS,
    start_page.SCHEME,
    memory_parts.SCHEME,
    memory_error_tables.SCHEME,
    accelerator_tables.SCHEME,
    plan_tables.SCHEME,
    install_command.SCHEME,
    ESTIMATE_TABLE,
)
"""What the addresses of these links begin with."""


def with_parts(lines: list[str], site: SiteData, page: PageContext) -> list[str]:
    """Replace the empty links of a page with the parts that they stand for."""
    found = methods_table.with_tables(lines, site, page)
    found = memory_error_tables.with_tables(found, site)
    found = accelerator_tables.with_tables(found, site)
    found = plan_tables.with_tables(found, site)
    found = install_command.with_command(found, site)
    found = predicted_figures.with_tables(found, site, page)
    found = start_page.with_parts(found, site, page)
    return memory_parts.with_parts(found, site, page)
