"""The page template: the theme's, with deferred scripts and the list of planned guides for the search."""

NAME = "main.html"
_DEFERRED = "{% block BLOCK %}{{ super() | replace('<script src=', '<script defer src=') }}{% endblock %}"


_PLANNED = """{% block config %}{{ super() }}{% if planned_guides %}<template id="planned-guides">
<p>Not written yet:</p>
<ul>{% for title, path in planned_guides %}
<li><a href="{{ base_url.rstrip('/') }}/{{ path }}">{{ title | e }}</a></li>{% endfor %}</ul>
</template>{% endif %}{% endblock %}"""


_OF_PAGE = """{% set mine = page_scripts.get(page.file.src_uri, ()) if page_scripts and page else () %}"""
_STYLE = (
    """{% block styles %}{{ super() }}"""
    + _OF_PAGE
    + """{% if mine %}
<link rel="stylesheet" href="{{ page_styles[page.file.src_uri] | url }}">{% endif %}{% endblock %}"""
)
_SCRIPTS = (
    _OF_PAGE
    + """{% for path in mine %}
<script defer src="{{ path | url }}"></script>{% endfor %}"""
)


def template() -> str:
    """Return the template's text.

    Deferred scripts load in parallel with the page and run in order once it is parsed. ``planned_guides`` of the
    environment are pairs of a title and an address, which the search lists when it finds nothing. ``page_scripts`` are
    the scripts of single pages, by the page's path, and ``page_styles`` has the style sheet of each.
    """
    libs, scripts = (_DEFERRED.replace("BLOCK", block) for block in ("libs", "scripts"))
    scripts = scripts.replace("{% endblock %}", f"{_SCRIPTS}{{% endblock %}}")
    return f'{{% extends "base.html" %}}{_PLANNED}{_STYLE}{libs}{scripts}'
