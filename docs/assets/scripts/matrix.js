// The table of all methods: filters whose state stands in the address, sorting, and a CSV of what is shown.
document$.subscribe(() => {
  const form = document.querySelector(".matrix-filters"), table = document.querySelector(".matrix table")
  if (!form || !table) return
  const {hardware, goal, method} = form.elements
  const GOALS = ["speed", "memory", "quality"]
  const heads = [...table.tHead.rows[0].cells]
  const rows = [...table.tBodies[0].rows].map(row => ({
    row,
    text: `${row.cells[0].textContent} ${row.querySelector("[data-names]").dataset.names}`.toLowerCase(),
    on: row.querySelector("[data-on]").dataset.on.split(" "),
    gains: GOALS.filter((_, i) => row.cells[i + 2].querySelector("[data-gains]")),
    keys: [...row.cells].map((cell, i) => i < 2 ? cell.textContent.toLowerCase()
      : Number(cell.querySelector("[data-ratio]")?.dataset.ratio ?? -1)),
  }))
  let sorted = ""  // the number of a column, after a minus sign where it falls

  function filter() {
    const words = method.value.toLowerCase().split(/\s+/)
    let shown = 0
    for (const {row, text, on, gains} of rows) {
      const fits = (!hardware.value || on.includes(hardware.value) || on[0] === "")
        && (!goal.value || gains.includes(goal.value) || (on[0] === "" && row.cells[GOALS.indexOf(goal.value) + 2].querySelector("a")))
        && words.every(word => text.includes(word))
      if (row.hidden === fits) row.hidden = !fits
      shown += fits
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} rows`
  }

  function sort() {
    const falls = sorted.startsWith("-"), column = Math.abs(sorted)
    const order = sorted === "" ? rows : [...rows].sort((a, b) =>
      (a.keys[column] < b.keys[column] ? -1 : a.keys[column] > b.keys[column] ? 1 : 0) * (falls ? -1 : 1))
    table.tBodies[0].append(...order.map(({row}) => row))
    heads.forEach((head, i) => i === column && sorted !== ""
      ? head.setAttribute("aria-sort", falls ? "descending" : "ascending") : head.removeAttribute("aria-sort"))
  }

  function remember() {
    const state = Object.entries({hardware: hardware.value, goal: goal.value, method: method.value.trim(), sort: sorted})
    const hash = new URLSearchParams(state.filter(([, value]) => value)).toString()
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search)
  }

  function recall() {
    const state = new URLSearchParams(location.hash.slice(1))
    goal.value = GOALS.find(name => name === state.get("goal")) ?? ""
    method.value = state.get("method") ?? ""
    sorted = /^-?[0-4]$/.test(state.get("sort") ?? "") ? state.get("sort") : ""
    filter()
    sort()
  }

  function save() {
    const cell = text => `"${text.replace(/\s+/g, " ").trim().replace(/^[=+@-]/, "'$&").replaceAll('"', '""')}"`
    const lines = [heads, ...[...table.tBodies[0].rows].filter(row => !row.hidden).map(row => [...row.cells])]
    const text = lines.map(cells => cells.map(each => cell(each.textContent)).join(",")).join("\n")
    Object.assign(document.createElement("a"), {
      href: `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`, download: "methods-shown.csv",
    }).click()
  }

  heads.forEach((head, i) => {
    const button = Object.assign(document.createElement("button"), {type: "button"})
    button.append(...head.childNodes)
    head.append(button)
    button.addEventListener("click", () => {
      const [first, second] = i < 2 ? [`${i}`, `-${i}`] : [`-${i}`, `${i}`]
      sorted = sorted === first ? second : sorted === second ? "" : first
      sort()
      remember()
    })
  })
  form.addEventListener("input", () => { filter(); remember() })
  form.addEventListener("submit", event => event.preventDefault())
  form.querySelector("button").addEventListener("click", save)
  addEventListener("hashchange", recall)
  recall()
})
