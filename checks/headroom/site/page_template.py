"""The page template: the theme's, with deferred scripts and the list of planned guides for the search."""

NAME = "main.html"
_DEFERRED = "{% block BLOCK %}{{ super() | replace('<script src=', '<script defer src=') }}{% endblock %}"


_PLANNED = """{% block config %}{{ super() }}{% if planned_guides %}<template id="planned-guides">
<p>Not written yet:</p>
<ul>{% for title, path in planned_guides %}
<li><a href="{{ base_url.rstrip('/') }}/{{ path }}">{{ title | e }}</a></li>{% endfor %}</ul>
</template>{% endif %}{% endblock %}"""


def template() -> str:
    """Return the template's text.

    Deferred scripts load in parallel with the page and run in order once it is parsed. ``planned_guides`` of the
    environment are pairs of a title and an address, which the search lists when it finds nothing.
    """
    deferred = "".join(_DEFERRED.replace("BLOCK", block) for block in ("libs", "scripts"))
    return f'{{% extends "base.html" %}}{_PLANNED}{deferred}'
