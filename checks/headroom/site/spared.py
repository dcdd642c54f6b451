"""What spares the renderer work: plots are taken as they are, code is highlighted once, plain text is only text."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from pygments.style import Style
from pymdownx.highlight import Highlight

_PLOT = re.compile(r'^<figure class="plot".*?^</figure>$', re.DOTALL | re.MULTILINE)
_MOST = 4000
"""Texts, and pieces of code, that are remembered."""


class Plots(Preprocessor):
    """Takes plots out of a page before two parsers read them: they are ours, and hold neither Markdown nor links."""

    def run(self, lines: list[str]) -> list[str]:
        """The lines, each plot replaced by a mark of where it goes."""
        text = "\n".join(lines)
        if "<figure" not in text:
            return lines
        return _PLOT.sub(lambda plot: self.md.htmlStash.store(plot[0]), text).split("\n")


class PlainTexts(Treeprocessor):
    """Says of texts in which no mark of a page's inline patterns stands that they are done.

    Each pattern would be tried on each of them, on every page. The same few stand in the tables of all claims.
    """

    known: ClassVar[defaultdict[tuple[str, ...], dict[str, bool]]] = defaultdict(dict)
    """Of each set of patterns, whether a text is plain."""

    def run(self, root: Element) -> None:
        """Make such texts ones that Python-Markdown does not look into."""
        patterns = list(self.md.inlinePatterns)
        if not all(isinstance(pattern, InlineProcessor) for pattern in patterns):
            return  # one of the old kind is tried in another way
        searches = [pattern.getCompiledRegExp().search for pattern in patterns]
        known = self.known[tuple(pattern.pattern for pattern in patterns)]
        for element in root.iter():
            text = element.text
            if text and not isinstance(text, AtomicString):
                if text not in known:
                    if len(known) >= _MOST:
                        known.clear()
                    known[text] = not any(search(text) for search in searches)
                if known[text]:
                    element.text = AtomicString(text)


def highlight_once(md: Markdown) -> None:
    """Let what highlights fences remember what it has made: every claim's page shows the code of its benchmark."""
    for extension in md.registeredExtensions:
        if hasattr(extension, "get_pymdownx_highlighter"):
            extension.get_pymdownx_highlighter = lambda: _Once


class _Bare(type(Style)):  # type: ignore[misc] # pygments is not typed
    """What a style without colours is made by."""

    def __iter__(cls) -> Iterator[Any]:
        """No token has a colour. Code gets classes, and yet a list of the colours would be made for each fence."""
        return iter(())


class _Colourless(Style, metaclass=_Bare):  # type: ignore[misc] # as above
    """A style for code whose colours are the style sheet's."""


class _Once(Highlight):  # type: ignore[misc] # pymdownx is not typed
    """Highlights the same code in the same way once."""

    made: ClassVar[dict[str, str]] = {}
    lexers: ClassVar[dict[tuple[object, ...], Any]] = {}

    def get_lexer(self, src: str, language: str, inline: bool, stripnl: bool) -> Any:  # noqa: FBT001 - as it is called
        """What reads a language. Pygments looks for it among all that it knows, for each fence."""
        if self.guess_lang or self.extend_pygments_lang or inline:
            return super().get_lexer(src, language, inline, stripnl)
        key = (language, stripnl, self.default_lang)
        if key not in self.lexers:
            self.lexers[key] = super().get_lexer(src, language, inline, stripnl)
        return self.lexers[key]

    def highlight(self, *args: Any, **options: Any) -> Any:
        """The HTML of a fence. Inline code is an element that others change, and a title may be kept with the page."""
        if options.get("inline") or options.get("title"):
            return super().highlight(*args, **options)
        settings = {name: value for name, value in vars(self).items() if name != "md"}
        key = repr((settings, args, options))
        if key not in self.made:
            if len(self.made) >= _MOST:
                self.made.clear()
            if not self.noclasses:
                self.pygments_style = _Colourless
            self.made[key] = super().highlight(*args, **options)
        return self.made[key]
