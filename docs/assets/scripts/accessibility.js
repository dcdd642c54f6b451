// Adds what the theme lacks for assistive technology: names of regions, and scrolling by keyboard.
document$.subscribe(() => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search")
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((wrap, i) => {
    wrap.tabIndex = 0
    wrap.setAttribute("role", "region")
    wrap.setAttribute("aria-label", `Table ${i + 1}`)
    const show = () => document.activeElement === wrap && wrap.scrollIntoView({ block: "nearest" })
    wrap.addEventListener("focus", () => [0, 100, 400].forEach(wait => setTimeout(show, wait)))  // text above it may get its height later
  })

  // The theme gives code a button, and focus if it scrolls, once it is visible.
  const name = () => document.querySelectorAll(".md-code__nav").forEach((nav, i) => nav.setAttribute("aria-label", `Code block ${i + 1}`))
  new MutationObserver(name).observe(document.querySelector(".md-content") ?? document.body, { childList: true, subtree: true })
  name()

  // Code further down is measured when the browser is idle, so that the keyboard reaches it.
  const reach = code => code.checkVisibility() && (code.scrollWidth > code.clientWidth ? (code.tabIndex = 0) : code.removeAttribute("tabindex"))
  const later = window.requestIdleCallback ?? setTimeout
  const codes = document.querySelectorAll("pre > code")
  if (!matchMedia("(hover)").matches) return
  codes.forEach(code => later(() => reach(code)))
  addEventListener("resize", () => codes.forEach(reach))
  document.addEventListener("toggle", event => event.target.querySelectorAll("pre > code").forEach(reach), true)
})
