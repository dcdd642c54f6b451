// Loads the search index when the search gets the focus. The theme loads it with every page, although it is larger than
// the page and most readers never search. From a file system the theme already waits.
{
  const { open, send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.open = function (method, url, ...others) {
    this.searchIndex = String(url).endsWith("/search/search_index.json")
    return open.call(this, method, url, ...others)
  }
  XMLHttpRequest.prototype.send = function (...body) {
    const toggle = document.getElementById("__search")
    if (!this.searchIndex || !toggle || toggle.checked) return send.apply(this, body)
    const once = new AbortController()
    const turn = event => {
      if (event.target !== toggle && !event.target.closest(".md-search, [for=__search]")) return
      once.abort()
      send.apply(this, body)
    }
    for (const kind of ["change", "focusin", "pointerover"]) document.addEventListener(kind, turn, once)
  }
}
