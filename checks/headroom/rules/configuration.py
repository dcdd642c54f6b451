"""Rule `configuration`: mkdocs.yml uses only known plugins and extensions, and nothing from another host."""

import re
from collections.abc import Callable, Iterator

import yaml

from headroom.io.safe_read import UnreadableError, read_text
from headroom.records import Problem
from headroom.rules.context import Context

_CONFIG = "mkdocs.yml"
_KEYS = frozenset(
    (
        *("site_name", "site_description", "site_author", "site_url", "copyright", "use_directory_urls", "strict"),
        *("exclude_docs", "not_in_nav", "validation", "watch", "theme", "extra", "extra_css", "extra_javascript"),
        *("plugins", "markdown_extensions", "nav", "repo_url", "repo_name", "edit_uri"),
    )
)
_THEME = frozenset(("name", "language", "font", "logo", "favicon", "palette", "features", "icon"))
_EXTRA = frozenset(("generator", "polyfills"))
_PLUGINS = frozenset(("search", "offline", "mkdocs-jupyter", "headroom"))
_EXTENSIONS = frozenset(
    (
        *("admonition", "attr_list", "footnotes", "md_in_html", "tables", "toc", "headroom"),
        *("pymdownx.details", "pymdownx.highlight", "pymdownx.inlinehilite", "pymdownx.snippets"),
        *("pymdownx.superfences", "pymdownx.tabbed"),
    )
)
_TAGS = ("tag:yaml.org,2002:", "!ENV", "!relative")
_ADDRESSED = frozenset(("site_url", "repo_url", "edit_uri", "repository", "nav"))
"""Keys whose values may be links to another host: readers follow these links, but pages load nothing from them."""
_RUNS = frozenset(("execute", "include_requirejs", "url_download", "root", "custom_fences"))
"""Options of known plugins and extensions that run or load content that no rule checks."""
_FOREIGN = re.compile(r"^\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2}|^\s*(?:javascript|data|vbscript):", re.IGNORECASE)
_REMEDY = "remove it, or have it reviewed and add it to headroom.rules.configuration"

Fault = tuple[yaml.Node, str]
Entry = tuple[yaml.Node, yaml.Node | None]


def configuration(context: Context) -> Iterator[Problem]:
    """Report unknown keys, plugins and extensions of mkdocs.yml, and values that run code or load from another host."""
    try:
        text = read_text(context.tree.root / _CONFIG, context.tree.root)
    except UnreadableError:  # the rule `orphans` reports it
        return
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        yield Problem(_CONFIG, line, "configuration", "", "the file cannot be parsed as YAML", "fix the syntax")
        return
    for where, message in _faults(node) if isinstance(node, yaml.MappingNode) else ():
        yield Problem(_CONFIG, where.start_mark.line + 1, "configuration", "", message, _REMEDY)


def _faults(config: yaml.MappingNode) -> Iterator[Fault]:
    yield from _unknown(_entries(config), _KEYS, "key")
    lists: dict[str, Callable[[yaml.Node], Iterator[Fault]]] = {
        "theme": _theme,
        "extra": lambda node: _unknown(_entries(node), _EXTRA, "key of `extra`"),
        "plugins": lambda node: _unknown(_entries(node), _PLUGINS, "plugin"),
        "markdown_extensions": lambda node: _unknown(_entries(node), _EXTENSIONS, "Markdown extension"),
    }
    for key, value in _entries(config):
        if value is not None and _name(key) in lists:
            yield from lists[_name(key)](value)
    yield from _values(config, set())


def _name(key: yaml.Node) -> str:
    return key.value if isinstance(key, yaml.ScalarNode) else ""


def _theme(node: yaml.Node) -> Iterator[Fault]:
    options = {_name(key): value for key, value in _entries(node)}
    if isinstance(node, yaml.ScalarNode) or getattr(options.get("name"), "value", None) != "material":
        yield node, "the theme is not `material`"
    elif getattr(options.get("font"), "value", None) != "false":
        yield node, "a theme without `font: false` loads fonts from another host"
    yield from _unknown((entry for entry in _entries(node) if options), _THEME, "key of `theme`")


def _unknown(entries: "Iterator[Entry]", known: frozenset[str], what: str) -> Iterator[Fault]:
    for key, _ in entries:
        if _name(key) not in known:
            yield key, f"unknown {what} `{_name(key)}`"


def _entries(node: yaml.Node) -> "Iterator[Entry]":
    """Yield the keys and values of a mapping, or the items of a list, each a name or a mapping with one key."""
    if isinstance(node, yaml.MappingNode):
        yield from node.value
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _entries(item) if isinstance(item, yaml.MappingNode) else [(item, None)]


def _values(node: yaml.Node, seen: set[int], *, addressed: bool = False) -> Iterator[Fault]:
    """Yield every tag that runs code, every value on another host, and every value that is HTML."""
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if not node.tag.startswith(_TAGS) or "python" in node.tag:
        yield node, f"the YAML tag `{node.tag}` is not allowed, since it may run code"
    if isinstance(node, yaml.ScalarNode):
        if _FOREIGN.search(node.value) and not (addressed and node.value.startswith("https://")):
            yield node, f"`{node.value}` is on another host"
        elif "<" in node.value:
            yield node, "the value contains HTML, which the site copies unchanged into its pages"
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _values(item, seen, addressed=addressed)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = _name(key)
            if name in _RUNS and value.value != "false":
                yield key, f"the option `{name}` runs or loads content that no rule checks"
            yield from _values(value, seen, addressed=addressed or name in _ADDRESSED)
