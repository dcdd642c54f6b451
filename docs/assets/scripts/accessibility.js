// What assistive technology needs and the theme leaves out: names for regions, and scrolling by keyboard.
document$.subscribe(() => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search")
  document.querySelectorAll(".md-code__nav").forEach((nav, i) => nav.setAttribute("aria-label", `Code block ${i + 1}`))
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((wrap, i) => {
    wrap.tabIndex = 0
    wrap.setAttribute("role", "region")
    wrap.setAttribute("aria-label", `Table ${i + 1}`)
  })
})
