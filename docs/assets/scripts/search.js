// Adds to the theme's search: Ctrl-K, text pasted by mouse, error messages and flags as printed, and the best section of
// a page, which the theme folds away if the page's title matches as well.
{
  const COMMON = new Set("a an and are as at be been but by can could did do does for from has have if in into is it its no not of on or so than that the their then there this to true was were will with would you your".split(" "))
  const wordsOf = text => text.match(/[\p{L}\p{N}]+/gu) ?? []

  // Return a text's words without query operators: `--bf16` must not exclude a word. Numbers of long messages (sizes,
  // addresses) and very common words are dropped. The whole text as one word, and each part without spaces, find exact
  // names in methods' records; the prefix `zz` separates these words from others.
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

  // Below "No matching documents", list the planned guides.
  function sayWhatIsMissing(list) {
    const meta = document.querySelector(".md-search-result__meta")
    const none = JSON.parse(document.getElementById("__config").textContent).translations["search.result.none"]
    const note = Object.assign(document.createElement("div"), { className: "found-nothing", hidden: true })
    const guides = document.getElementById("planned-guides")
    list.before(note)
    const show = () => {
      note.hidden = meta.textContent.trim() !== none
      // Hidden links would take the arrow keys, which walk through every link of the results.
      note.replaceChildren(...(note.hidden || !guides ? [] : [guides.content.cloneNode(true)]))
    }
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
