// The table of accelerators: filters by words and memory, and sorting, with their state in the address.
document$.subscribe(() => {
  const form = document.querySelector(".accelerator-filters"), table = document.querySelector(".accelerators table")
  if (!form || !table) return
  const {words, memory} = form.elements
  const heads = [...table.tHead.rows[0].cells]
  const rows = [...table.tBodies[0].rows].map(row => {
    const {names, memory} = row.querySelector("[data-names]").dataset
    return {row, names: tableFilters.names(names), memory: Number(memory)}
  })
  let sorted = ""  // a column's number, with a minus sign if descending

  const fits = each => each.memory >= Number(memory.value) && tableFilters.matches(each.names, words.value)
  const key = ({row}, column) => {
    const text = row.cells[column].textContent
    return column === 0 ? text.toLowerCase() : parseFloat(text.replaceAll(",", ""))
  }

  function show() {
    const falls = sorted.startsWith("-"), column = Math.abs(sorted)
    const order = sorted === "" ? rows : rows.map(each => [key(each, column), each]).sort(([a], [b]) => {
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b)  // unknown values come last
      return (a < b ? -1 : Number(a > b)) * (falls ? -1 : 1)
    }).map(([, each]) => each)
    for (const each of rows) each.row.hidden = !fits(each)
    form.querySelector("output").textContent = `${rows.filter(fits).length} of ${rows.length} accelerators`
    table.tBodies[0].append(...order.map(({row}) => row))
    heads.forEach((head, i) => i === column && sorted !== ""
      ? head.setAttribute("aria-sort", falls ? "descending" : "ascending") : head.removeAttribute("aria-sort"))
  }

  const remember = () => tableFilters.remember({words: words.value.trim(), memory: memory.value, sort: sorted})

  function recall() {
    const state = tableFilters.recalled(), size = state.get("memory") ?? ""
    memory.value = [...memory.options].some(({value}) => value === size) ? size : ""
    words.value = state.get("words") ?? ""
    sorted = /^-?\d$/.test(state.get("sort") ?? "") && Math.abs(state.get("sort")) < heads.length ? state.get("sort") : ""
    show()
  }

  heads.forEach((head, i) => {
    const button = Object.assign(document.createElement("button"), {type: "button"})
    button.append(...head.childNodes)
    head.append(button)
    button.addEventListener("click", () => {
      const [first, second] = i < 1 ? [`${i}`, `-${i}`] : [`-${i}`, `${i}`]
      sorted = sorted === first ? second : sorted === second ? "" : first
      show()
      remember()
    })
  })
  form.addEventListener("input", () => { show(); remember() })
  form.addEventListener("submit", event => event.preventDefault())
  addEventListener("hashchange", recall)
  recall()
})
