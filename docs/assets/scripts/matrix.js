// The table of all methods: filters with their state in the address, sorting, and a CSV of the visible rows.
document$.subscribe(() => {
  const form = document.querySelector(".matrix-filters"), table = document.querySelector(".matrix table")
  if (!form || !table) return
  const {hardware, goal, method} = form.elements
  const GOALS = ["speed", "memory", "quality"]
  const heads = [...table.tHead.rows[0].cells]
  const rows = [...table.tBodies[0].rows].map(row => ({
    row,
    names: tableFilters.names(`${row.cells[0].textContent} ${row.querySelector("[data-names]").dataset.names}`),
    found: [...row.querySelectorAll("[data-goal]")].map(each => ({
      cell: each.closest("td").cellIndex, on: each.dataset.on ?? "", goal: each.dataset.goal,
      gains: "gains" in each.dataset, ratio: Number(each.dataset.ratio ?? NaN),
    })),
  }))
  const AT_ONCE = 100  // as many as a slow phone lays out while a reader types
  let sorted = ""  // a column's number, with a minus sign if descending
  let order = rows, all = false

  // A proven result has no hardware and holds on all; cited and computed results hold on none.
  const wanted = ({on, goal: about, gains}) => (!hardware.value || on === hardware.value || (about === "quality" && !on))
    && (!goal.value || (about === goal.value && gains))

  function fits({names, found}) {
    const any = !hardware.value || found.some(each => each.on === hardware.value)
    return any && (!goal.value || found.some(wanted))
      && tableFilters.matches(names, method.value)
  }

  // Sort by the best ratio in the column, of the wanted goal alone if one is chosen.
  const key = ({row, found}, column) => column === 0 ? row.cells[0].textContent.toLowerCase()
    : found.filter(each => each.cell === column && (!goal.value || each.goal === goal.value) && !Number.isNaN(each.ratio))
      .reduce((best, {ratio}) => best >= ratio ? best : ratio, NaN)

  function filter() {
    let found = 0
    for (const each of order) {
      each.fits = fits(each)
      found += Boolean(each.fits)
      const hidden = !each.fits || (!all && found > AT_ONCE)
      if (each.row.hidden !== hidden) each.row.hidden = hidden
    }
    const shown = all ? found : Math.min(found, AT_ONCE)
    form.querySelector("output").textContent = `${shown === found ? found : `the first ${shown} of ${found}`} of ${rows.length} rows`
    form.elements.all.hidden = shown === found
  }

  function sort() {
    const falls = sorted.startsWith("-"), column = Math.abs(sorted)
    order = sorted === "" ? rows : rows.map(each => [key(each, column), each]).sort(([a], [b]) => {
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b)  // unknown values come last
      return (a < b ? -1 : Number(a > b)) * (falls ? -1 : 1)
    }).map(([, each]) => each)
    filter()
    table.tBodies[0].append(...order.map(({row}) => row))
    heads.forEach((head, i) => i === column && sorted !== ""
      ? head.setAttribute("aria-sort", falls ? "descending" : "ascending") : head.removeAttribute("aria-sort"))
  }

  const remember = () => tableFilters.remember({hardware: hardware.value, goal: goal.value, method: method.value.trim(), sort: sorted})

  function recall() {
    const state = tableFilters.recalled()
    goal.value = GOALS.find(name => name === state.get("goal")) ?? ""
    method.value = state.get("method") ?? ""
    sorted = /^-?\d$/.test(state.get("sort") ?? "") && Math.abs(state.get("sort")) < heads.length ? state.get("sort") : ""
    sort()
  }

  function save() {
    const cell = text => `"${text.replace(/\s+/g, " ").trim().replace(/^[=+@-]/, "'$&").replaceAll('"', '""')}"`
    const lines = [heads, ...order.filter(each => each.fits).map(({row}) => [...row.cells])]
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
      const [first, second] = i < 1 ? [`${i}`, `-${i}`] : [`-${i}`, `${i}`]
      sorted = sorted === first ? second : sorted === second ? "" : first
      sort()
      remember()
    })
  })
  form.addEventListener("input", () => { sort(); remember() })
  form.addEventListener("submit", event => event.preventDefault())
  form.elements.csv.addEventListener("click", save)
  form.elements.all.addEventListener("click", () => { all = true; filter() })
  addEventListener("hashchange", recall)
  recall()
})
