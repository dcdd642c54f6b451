"""The theme's menus and forms, made once for all pages of a folder that no menu lists, as those of claims are."""

import posixpath
from collections.abc import Callable, Iterator
from contextlib import suppress

from jinja2 import Environment, TemplateNotFound
from jinja2.runtime import Context

_SAME = tuple(f"partials/{name}.html" for name in ("nav", "tabs", "palette", "search"))
"""What shows of a page at most which one it is, and has links at most to what menus list."""
_Render = Callable[[Context], Iterator[str]]


def make_once(env: Environment) -> None:
    """Let these templates of a build, which do not change while it runs, remember what they were filled to."""
    env.auto_reload = False
    for name in _SAME:
        with suppress(TemplateNotFound):  # another theme has other menus
            template = env.get_template(name)
            template.root_render_func = _once(template.root_render_func)


def _once(render: _Render) -> _Render:
    made: dict[str, str] = {}

    def remembered(context: Context) -> Iterator[str]:
        page, nav = context.get("page"), context.get("nav")
        if not (page and nav) or page.parent or any(page is item for item in nav.items):
            yield from render(context)  # it is marked in its menus
            return
        folder = posixpath.dirname(page.url)  # what the links of a menu begin with
        if folder not in made:
            made[folder] = "".join(render(context))
        yield made[folder]

    return remembered
