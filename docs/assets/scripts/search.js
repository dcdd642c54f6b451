// What the theme's search leaves out: Ctrl-K, a text pasted with the mouse, error messages and flags as they are
// printed, and the section of a page that answers best, which it folds away where the page's own title matches as well.
{
  const COMMON = new Set("a an and are as at be been but by can could did do does for from has have if in into is it its no not of on or so than that the their then there this to true was were will with would you your".split(" "))
  const wordsOf = text => text.match(/[\p{L}\p{N}]+/gu) ?? []

  // The words of a text without operators of the query language: `--bf16` is no word that must not occur. Numbers of a long
  // message (sizes, addresses) and words that stand everywhere say nothing. The whole text as one word, and each part of it
  // that has no space, find what the record of a method has letter for letter: `zz` keeps these words apart from others.
  function searched(text) {
    const lower = text.toLowerCase()
    const words = wordsOf(lower)
    const telling = words.filter(word => !COMMON.has(word) && !/^\d+$|^0x|^.$/.test(word))
    const joined = [lower, ...lower.split(/\s+/), ...lower.split(/[\s=]+/)].map(part => wordsOf(part).join("")).filter(word => word && !COMMON.has(word))
    return [...new Set([...(telling.length ? telling : words), ...joined.map(word => `zz${word}^2`)])].join(" ")
  }

  const QUERY = 2 // the type of the theme's message to its worker
  const post = Worker.prototype.postMessage
  Worker.prototype.postMessage = function (message, ...rest) {
    const asked = message?.type === QUERY ? { ...message, data: searched(message.data) } : message
    return post.call(this, asked, ...rest)
  }

  function showBestSection(item) {
    const more = item.querySelector("details")
    if (!more || item.querySelectorAll(":scope > a").length > 1) return
    const [best, ...rest] = more.querySelectorAll("a")
    more.before(best)
    const words = more.querySelector("summary div")
    if (rest.length) words.textContent = words.textContent.replace(/\d+/, rest.length)
    else more.remove()
  }

  // Below "No matching documents": which guides are not written yet.
  function sayWhatIsMissing(list) {
    const meta = document.querySelector(".md-search-result__meta")
    const none = JSON.parse(document.getElementById("__config").textContent).translations["search.result.none"]
    const note = Object.assign(document.createElement("div"), { className: "found-nothing", hidden: true })
    const guides = document.getElementById("planned-guides")
    if (guides) note.append(guides.content.cloneNode(true))
    list.before(note)
    const show = () => (note.hidden = meta.textContent.trim() !== none)
    new MutationObserver(show).observe(meta, { childList: true, characterData: true, subtree: true })
  }

  const input = document.querySelector(".md-search__input")
  const results = document.querySelector(".md-search-result__list")
  if (input && results) {
    sayWhatIsMissing(results)
    input.addEventListener("focus", () => (input.placeholder = "A word, a flag, or a whole error message"))
    input.setAttribute("aria-keyshortcuts", "Control+K Meta+K /")
    input.addEventListener("input", () => input.dispatchEvent(new KeyboardEvent("keyup")))
    addEventListener("keydown", event => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return
      event.preventDefault()
      input.focus()
      input.select()
    })
    new MutationObserver(changes => {
      for (const { addedNodes } of changes)
        for (const node of addedNodes) if (node.matches?.(".md-search-result__item")) showBestSection(node)
    }).observe(results, { childList: true })
  }
}
