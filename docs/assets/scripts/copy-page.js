// Adds a button that copies the page as Markdown, except from the file system, where nothing can be fetched.
document$.subscribe(() => {
  const link = document.querySelector(".page-actions [type='text/markdown']")
  if (!link || !window.ClipboardItem || !navigator.clipboard || !location.protocol.startsWith("http")) return
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = "Copy page"
  button.setAttribute("aria-live", "polite")
  button.addEventListener("click", async () => {
    const text = fetch(link.href).then(answer => answer.ok ? answer.blob() : Promise.reject(answer.status))
    try { // the promise is inside the item: Safari loses the click while awaiting it outside
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": text.then(blob => new Blob([blob], { type: "text/plain" })) })])
      button.textContent = "Copied"
      setTimeout(() => { button.textContent = "Copy page" }, 2000)
    } catch { location.assign(link.href) }
  })
  link.before(button)
})
