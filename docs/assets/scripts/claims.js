// The list of claims: filters by status and by words. A method without a row is hidden with its heading.
document$.subscribe(() => {
  const form = document.querySelector(".claim-filters")
  if (!form) return
  const {words} = form.elements, chips = form.querySelectorAll("[name=status]")
  const chosen = () => form.querySelector(":checked").value
  const groups = [...document.querySelectorAll(".claim-index")].map(group => ({
    parts: [group.previousElementSibling, group],
    rows: [...group.querySelectorAll("tbody tr")].map(row => ({
      row, has: row.querySelector("[data-status]").dataset.status.split(" "),
      names: tableFilters.names(`${group.dataset.names} ${row.textContent}`),
    })),
  }))
  const rows = groups.flatMap(group => group.rows)

  function filter() {
    const status = chosen()
    for (const {row, has, names} of rows) {
      row.hidden = !((!status || has.includes(status)) && tableFilters.matches(names, words.value))
    }
    for (const {parts, rows: own} of groups) {
      const empty = own.every(({row}) => row.hidden)
      for (const part of parts) part.hidden = empty
    }
    const shown = rows.filter(({row}) => !row.hidden).length
    form.querySelector("output").textContent = `${shown} of ${rows.length} claims`
  }

  function recall() {
    const state = tableFilters.recalled()
    const chip = [...chips].find(({value}) => value === state.get("status")) ?? chips[0]
    chip.checked = true
    words.value = state.get("words") ?? ""
    filter()
    document.getElementById(location.hash.slice(1))?.scrollIntoView()  // its heading may have been hidden
  }

  form.addEventListener("input", () => { filter(); tableFilters.remember({status: chosen(), words: words.value.trim()}) })
  form.addEventListener("submit", event => event.preventDefault())
  addEventListener("hashchange", recall)
  recall()
})
