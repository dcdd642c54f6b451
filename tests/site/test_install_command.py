"""The command that installs the package, on a page."""

from dataclasses import replace

import pytest

from headroom.site.as_markdown import plain
from headroom.site.install_command import with_command
from headroom.site.site_data import PageContext, SiteData


def test_line_becomes_the_command_with_the_repository_of_the_site(site: SiteData) -> None:
    page = plain("Once:\n\n[](install:command)\n", replace(site, repository="https://a.example/b/"), PageContext())
    assert page == "Once:\n\n```console\n$ pip install git+https://a.example/b\n```\n"


def test_unknown_name_is_refused(site: SiteData) -> None:
    with pytest.raises(LookupError, match=r"\[\]\(install:other\)"):
        with_command(["[](install:other)"], site)
