"""The theme's page, with its scripts deferred, and with the guides that the search lists when it finds nothing."""

NAME = "main.html"
_DEFERRED = "{% block BLOCK %}{{ super() | replace('<script src=', '<script defer src=') }}{% endblock %}"


_PLANNED = """{% block config %}{{ super() }}{% if planned_guides %}<template id="planned-guides">
<p>Not written yet:</p>
<ul>{% for title, path in planned_guides %}
<li><a href="{{ base_url.rstrip('/') }}/{{ path }}">{{ title | e }}</a></li>{% endfor %}</ul>
</template>{% endif %}{% endblock %}"""


def template() -> str:
    """Return the page as a template of the theme.

    Scripts are fetched beside the page, and run in their order once it is complete. ``planned_guides`` of the
    environment are pairs of a title and an address: the search lists them when it finds nothing.
    """
    deferred = "".join(_DEFERRED.replace("BLOCK", block) for block in ("libs", "scripts"))
    return f'{{% extends "base.html" %}}{_PLANNED}{deferred}'
