// The menu of a narrow window by keyboard: the theme opens it and its sections with labels, which have no focus.
document$.subscribe(() => {
  const drawer = document.getElementById("__drawer")
  const label = document.querySelector(".md-header__button[for=__drawer]")
  const narrow = matchMedia("(max-width: 76.2344em)")
  if (!drawer || !label) return

  const button = document.createElement("button")
  button.className = `${label.className} menu`
  button.setAttribute("aria-label", "Menu")
  button.append(...label.childNodes)
  label.replaceWith(button)
  const tell = () => button.setAttribute("aria-expanded", drawer.checked)
  button.addEventListener("click", () => drawer.click())
  drawer.addEventListener("change", tell)
  tell()

  // The theme clicks the label that is focused when Enter is pressed.
  const sections = document.querySelectorAll(".md-nav--primary :is(.md-nav__link, .md-nav__title)[for]")
  const reach = () => sections.forEach(section => (section.tabIndex = narrow.matches ? 0 : -1))
  narrow.addEventListener("change", reach)
  reach()

  document.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !drawer.checked) return
    drawer.click()
    button.focus()
  })
})
