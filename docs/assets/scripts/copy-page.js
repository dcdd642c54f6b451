// A button that copies the page as Markdown. From the file system nothing can be fetched: there the link stays alone.
document$.subscribe(() => {
  const link = document.querySelector(".page-actions [type='text/markdown']")
  if (!link || !window.ClipboardItem || !navigator.clipboard || !location.protocol.startsWith("http")) return
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = "Copy page"
  button.setAttribute("aria-live", "polite")
  button.addEventListener("click", async () => {
    const text = fetch(link.href).then(answer => answer.ok ? answer.blob() : Promise.reject(answer.status))
    try { // a promise inside of the item: Safari forgets the click while it waits outside of it
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": text.then(blob => new Blob([blob], { type: "text/plain" })) })])
      button.textContent = "Copied"
      setTimeout(() => { button.textContent = "Copy page" }, 2000)
    } catch { location.assign(link.href) }
  })
  link.before(button)
})
