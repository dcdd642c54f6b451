// The form on the start page and on lists of the method finder: recipes against the memory of a card.
{
  const {recipes, cards, fixed, models, length} = memoryRecipes, root = document.querySelector(".memory-form")
  const base = new URL("..", document.currentScript.src), ranked = root?.classList.contains("ranked")
  const make = (tag, props = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), props)
    made.append(...inside)
    return made
  }
  const gib = mib => `${(mib / 1024).toLocaleString("en", {minimumFractionDigits: 1, maximumFractionDigits: 1})}\u00a0GiB`
  const least = peak => peak + fixed[0], most = peak => fixed[1] + peak * fixed[2]
  const known = new Map(models.flatMap(each => [each[0], each[1], ...each[2]].map(name => [name.toLowerCase(), each])))
  const select = (name, options) => make("select", {name}, ...options.map(([value, text]) => make("option", {value}, text)))
  const label = (text, control) => make("label", {className: `field-${control.name}`}, text, control)

  const model = make("input", {name: "model", autocomplete: "off", value: "Llama 3.1 8B"})
  model.setAttribute("list", "models")
  const card = select("card", cards.map(([id, name, printed]) => [id, `${name} · ${printed}`]))
  card.value = "rtx-4090"
  const job = select("job", [["training", "fine-tuning"], ["inference", "inference"]])
  const names = make("datalist", {id: "models"}, ...models.flatMap(each => [each[1], ...each[2]]).map(value => make("option", {value})))

  // What fits at most needs the estimator itself, which is loaded once the form is in view.
  const estimator = () => ["memory-data.js", "memory-fitting.js"].reduce((before, name) => before.then(() => new Promise((done, failed) =>
    document.head.append(make("script", {src: new URL(`assets/${name}`, base), onload: done, onerror: failed})))), Promise.resolve())
  const task = (id, state) => [...new URLSearchParams(state)].reduce((found, [name, value]) =>
    ({...found, [name]: typeof fitting.DEFAULTS[name] === "boolean" ? value === "1" : value}), {...fitting.DEFAULTS, model: id})
  const rooms = new Map()
  function room(id, state, mib) {
    const key = `${id} ${state} ${mib}`
    if (typeof fitting !== "undefined" && !rooms.has(key)) rooms.set(key, fitting.room(task(id, state), mib * 2 ** 20))
    return rooms.get(key)
  }
  const number = value => value.toLocaleString("en")
  const batch = found => `${number(found.batch)}\u00a0×\u00a0${number(length)}`
  const atMost = (id, found) => found ? `At most fit ${batch(found)} tokens, or one sequence of ${number(Math.min(found.length, memoryData.models[id].limit || found.length))} tokens. ` : ""

  function show(says, list) {
    const chosen = known.get((model.value || model.placeholder).trim().toLowerCase())
    if (!chosen) return says.replaceChildren(`No model “${model.value}” is known here. Choose one of the list.`)
    const [id, title, , peaks] = chosen, [cardId, name, , bytes] = cards.find(each => each[0] === card.value)
    const inference = !ranked && job.value === "inference"
    const rows = recipes.map(([name, added, href, state], place) => ({name, added, href, state, peak: peaks[place]}))
      .filter(row => row.peak && row.state.startsWith("job=inference") === inference && (!(root.classList.contains("full")) || !/lora/i.test(row.state)))
      .filter(row => ranked || inference || row.state.endsWith("checkpointing=1"))
    const fits = row => most(row.peak) <= bytes, first = rows.filter(fits), last = rows.filter(row => !fits(row))
    if (ranked) first.sort((one, other) => other.peak - one.peak)
    last.sort((one, other) => one.peak - other.peak)
    const link = row => new URL(`tools/will-it-fit.html#${new URLSearchParams([["model", id], ["card", cardId], ...new URLSearchParams(row.state)])}`, base)
    const best = first[0], titled = row => row.name.replace("Full, ", "Full fine-tuning with ") + (row.added ? ` (${row.added})` : "")
    says.replaceChildren(...!rows.length ? [`${title} was not traced for this job.`] : best
      ? [make("strong", {}, `${titled(best)} fits: `), `${gib(best.peak)} at the peak, with ${title} and one sequence of ${length.toLocaleString("en")} tokens, on the ${gib(bytes)} of the ${name}. `, atMost(id, room(id, best.state, bytes))]
      : [make("strong", {}, `None of these fits the ${name}. `), `The smallest for ${title} is ${titled(last[0])}: ${gib(last[0].peak)} at the peak, and the card has ${gib(bytes)}. `],
    ...rows.length ? [make("a", {href: link(best ?? last[0])}, "Change batch, length and settings")] : [])
    const scale = 64 / bytes
    list.replaceChildren(...[...first, ...last].map(row => {
      const found = fits(row) && room(id, row.state, bytes)
      const state = fits(row) ? found ? `up to ${batch(found)}` : `${gib(bytes - row.peak)} left` : least(row.peak) > bytes ? "does not fit" : "within the error"
      const title = make("span", {className: "name"}, make("a", {href: row.href ? new URL(row.href, base) : link(row)}, row.name), " ", make("small", {}, row.added))
      const track = make("span", {className: "track"}, make("i", {className: row.peak * scale > 100 ? "cut" : "", style: `width:${Math.min(100, row.peak * scale)}%`}))
      return make("li", {className: fits(row) ? "" : "no"}, title, track, make("a", {className: "peak", href: link(row)}, gib(row.peak)), make("small", {}, state))
    }))
    list.hidden = !rows.length
  }

  if (root) {
    const form = make("form", {className: "fit-form"}, make("div", {}, label("Model", model), label("GPU", card), ...ranked ? [] : [label("Job", job)]), names)
    const says = make("p", {className: "fit-says"}), list = make("ul", {className: "fit-list"})
    says.setAttribute("role", "status")
    const note = `Predicted peak of one step with one sequence of ${length.toLocaleString("en")} tokens; the line is the card, and “up to” the largest batch that fits. Rank 16, all linear layers.`
    root.replaceChildren(form, says, list, make("p", {className: "fit-note"}, note))
    root.classList.add("fit")
    model.addEventListener("focus", () => { model.placeholder = model.value; model.value = "" })
    model.addEventListener("blur", () => { model.value ||= model.placeholder; if (!known.has(model.value.trim().toLowerCase())) show(says, list) })
    form.addEventListener("input", event => { if (event.target !== model || known.has(model.value.trim().toLowerCase())) show(says, list) })
    form.addEventListener("submit", event => event.preventDefault())
    show(says, list)
    const seen = new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return
      seen.disconnect()
      estimator().then(() => {
        const links = () => [...root.querySelectorAll("a")], held = links().indexOf(document.activeElement)
        show(says, list)
        links()[held]?.focus()  // the link that had the focus is drawn anew
      }, () => {})
    }, {rootMargin: "0px 0px -300px"})
    seen.observe(root)
  }
}
