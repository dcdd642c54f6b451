// The hardware switch: shows the badges of the chosen class. `?hardware=` in the address applies to that page only; a
// choice by hand is stored for all pages.
document$.subscribe(() => {
  const KEY = "headroom.hardware"
  const selects = [...document.querySelectorAll("select[data-hardware]")]
  const data = JSON.parse(document.getElementById("headroom-claims")?.textContent ?? "{}")
  const links = [...document.querySelectorAll("a[data-claim]")]
    .map(link => ({link, title: link.title, own: [...link.childNodes]}))

  const stored = () => { try { return localStorage.getItem(KEY) } catch { return null } }
  const asked = () => new URLSearchParams(location.search).get("hardware")
    ?? new URLSearchParams(location.hash.slice(1)).get("hardware")

  const element = (tag, text, name = "") => Object.assign(document.createElement(tag), {textContent: text, className: name})

  function turn({link, title, own}, chosen) {
    link.title = title
    if (!chosen) return link.replaceChildren(...own)
    const [status, word, sentence, figures, conditions] = data[link.dataset.claim]?.[chosen.value]
      ?? ["unmeasured", "not measured yet", `On ${chosen.dataset.name}: not measured yet.`]
    link.title = sentence
    const badge = element("span", `${chosen.text.replace(" (nothing measured yet)", "")}: ${word}`, `badge badge-${status} turned`)
    if (!link.classList.contains("claim-summary")) return link.replaceChildren(...own.slice(0, -1), badge)
    const cell = figures ? [element("strong", figures), " ", element("small", conditions), " "] : []
    link.replaceChildren(...cell, badge)
  }

  function show(select) {
    const chosen = select.value && select.value !== select.dataset.own ? select.selectedOptions[0] : null
    for (const each of links) turn(each, chosen)
    const note = select.closest(".hardware-switch")?.querySelector("[role=status]")
    if (note) note.textContent = chosen ? `Badges, and cells with a badge, speak of ${chosen.dataset.name}; the text does not.` : ""
  }

  function restore() {
    const wanted = asked() ?? stored()
    for (const select of selects) {
      const value = [...select.options].some(option => option.value === wanted) ? wanted : ""
      if (select.value === value) continue
      select.value = value
      show(select)
      select.form?.dispatchEvent(new Event("input"))
    }
  }

  function keep(select) {
    const address = new URL(location)
    address.searchParams.delete("hardware")
    if (select.value && !select.form) address.searchParams.set("hardware", select.value)
    try { localStorage.setItem(KEY, select.value) } catch { /* then it applies to this page only */ }
    try { history.replaceState(null, "", address) } catch { /* some browsers refuse this for files */ }
    show(select)
  }

  restore()
  for (const select of selects) select.addEventListener("change", () => keep(select))
  for (const back of ["pageshow", "hashchange"]) addEventListener(back, restore)
})
