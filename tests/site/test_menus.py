"""The theme's menus are made once for all pages of a folder that no menu lists."""

from types import SimpleNamespace

from jinja2 import DictLoader, Environment

from headroom.site import menus


def page(url: str, parent: object = None) -> SimpleNamespace:
    """A page of the site."""
    return SimpleNamespace(url=url, parent=parent)


class TestMenus:
    def test_pages_of_a_folder_share_them_and_listed_pages_do_not(self) -> None:
        """One that a menu lists, at its top or in a section, is marked there; a folder's links begin alike."""
        env = Environment(loader=DictLoader({
            "page.html": "{% include 'partials/nav.html' %} of {{ page.url }}",
            "partials/nav.html": "menu for {{ page.url }}",
        }), autoescape=True)  # fmt: skip
        menus.make_once(env)
        top, inside = page("a/top.html"), page("a/inside.html", parent=object())
        nav = SimpleNamespace(items=[top])

        def made(found: SimpleNamespace | None) -> str:
            return env.get_template("page.html").render(page=found, nav=nav)

        assert made(page("a/1.html")) == "menu for a/1.html of a/1.html"
        assert made(page("a/2.html")) == "menu for a/1.html of a/2.html"
        assert made(page("b/3.html")) == "menu for b/3.html of b/3.html"
        assert made(page("a/4.html")) == "menu for a/1.html of a/4.html"
        assert [made(each) for each in (top, inside)] == [f"menu for {x.url} of {x.url}" for x in (top, inside)]
        assert made(None) == "menu for  of "
