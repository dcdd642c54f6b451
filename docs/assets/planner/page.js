// The form of the page on training plans: its fields, the layouts that fit, and the command for the same plan.
{
  const {models, cards, assumed} = planData, root = document.getElementById("plan-form")
  const make = (tag, props = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), props)
    made.append(...inside)
    return made
  }
  const count = number => number.toLocaleString("en")
  const gib = bytes => count(Math.round(bytes / 2 ** 30))
  const digits = seconds => seconds >= 100 ? seconds.toFixed(0) : seconds.toPrecision(3)
  const percent = logarithm => `${(100 * Math.expm1(logarithm)).toFixed(1)}\u00a0%`

  const DEFAULTS = {
    model: "llama-3.1-8b", card: "h100", perNode: 8, nodes: 1, network: 400, link: "", batch: 64, length: 8192, precision: "bf16",
    kernels: "fused", loss: "whole", optimizer: "adamw_torch_fused", overlap: false, sure: false,
  }
  const CHOICES = {
    model: Object.fromEntries(Object.entries(models).map(([id, {title}]) => [id, title])),
    card: Object.fromEntries(Object.entries(cards).map(([id, {name, printed}]) => [id, `${name} · ${printed}`])),
    precision: {bf16: "bf16", fp8: "fp8 matmuls"},
    kernels: {fused: "fused", eager: "eager"},
    loss: {whole: "all logits at once", chunked: "in chunks", fused: "fused (Liger)"},
    optimizer: {adamw_torch_fused: "AdamW, fused", adamw_bnb_8bit: "8-bit AdamW"},
  }
  const LABELS = {
    model: "Model", card: "GPU", perNode: "GPUs per node", nodes: "Nodes", network: "Network, Gb/s per GPU", link: "Link in a node, GB/s",
    batch: "Sequences per step", length: "Tokens per sequence", precision: "Precision", kernels: "Kernels", loss: "Logits and loss",
    optimizer: "Optimizer", overlap: "Async tensor parallelism", sure: "Only what fits for certain",
  }
  const MOST = {perNode: 1024, nodes: 1024, batch: 1 << 24, length: 1 << 24}, SPEEDS = ["network", "link"], MOST_SPEED = 1e6, SHOWN = 10

  function field(name) {
    const type = typeof DEFAULTS[name] === "boolean" ? "checkbox" : "number"
    const bounds = name in MOST ? {min: 1, max: MOST[name], step: 1} : SPEEDS.includes(name) ? {min: 0.001, max: MOST_SPEED, step: "any"} : {}
    const control = name in CHOICES
      ? make("select", {name}, ...Object.entries(CHOICES[name]).map(([value, text]) => make("option", {value}, text)))
      : make("input", {name, type, ...bounds, required: type === "number" && name !== "link"})
    return make("label", {className: type === "checkbox" ? "switch" : `field-${name}`}, ...type === "checkbox" ? [control, LABELS[name]] : [LABELS[name], control])
  }

  const form = make("form", {className: "fit-form", autocomplete: "off", noValidate: true},
    make("div", {}, ...["model", "card", "perNode", "nodes"].map(field)),
    make("div", {}, ...["batch", "length", "network", "link", "precision", "kernels", "loss", "optimizer", "overlap", "sure"].map(field)))
  const says = make("p", {className: "fit-says"}), shown = make("div", {}), line = make("code")
  const command = make("div", {className: "plan-command"}, make("p", {}, "The same plan as a command, also for models and options that are not in this form:"), make("pre", {}, line))
  says.setAttribute("role", "status")
  root.replaceChildren(form, says, shown, command)
  root.classList.add("fit")
  const control = name => form.elements.namedItem(name)
  let all = false

  // The state: every setting that differs from the default is in the address.
  function restore() {
    const wanted = tableFilters.recalled()
    for (const [name, value] of Object.entries(DEFAULTS)) {
      const given = wanted.get(name) ?? value
      if (control(name).type === "checkbox") control(name).checked = given === "1" || given === true
      else control(name).value = given
      if (!control(name).value && name !== "link") control(name).value = value
    }
    show()
  }

  function read() {
    const run = {}
    for (const [name, value] of Object.entries(DEFAULTS)) {
      const {value: text, checked} = control(name)
      run[name] = typeof value === "boolean" ? checked : name in MOST || SPEEDS.includes(name) && text ? Number(text) : text
    }
    return run
  }

  // What can be chosen: fp8 on GPUs with a recorded rate, and a network where there are several nodes.
  function adapt(run) {
    const fp8 = [...control("precision").options].find(option => option.value === "fp8")
    fp8.disabled = !cards[run.card].rates.fp8
    if (fp8.disabled) run.precision = control("precision").value = "bf16"
    control("network").closest("label").hidden = run.nodes === 1
    const {link, assumed} = cards[run.card]
    control("link").placeholder = `${link / 1e9}${assumed ? ", assumed" : ""}`
  }

  function show() {
    const wrong = Object.keys(DEFAULTS).find(name => !control(name).checkValidity())
    if (wrong) return refuse(wrong in MOST ? `${LABELS[wrong]}: give a whole number from 1 to ${count(MOST[wrong])}.` : `${LABELS[wrong]}: give a positive speed.`)
    const run = read()
    adapt(run)
    tableFilters.remember(Object.fromEntries(Object.entries(run).filter(([name, value]) => value !== DEFAULTS[name]).map(([name, value]) => [name, value === true ? 1 : value])))
    line.replaceChildren(...commandOf(run).flatMap(part => [" ", make("span", {}, part)]).slice(1))
    command.hidden = false
    const found = planner.plan(run)
    if (!found.tried) return refuse(`No layout over ${count(found.gpus)} GPUs divides ${count(run.batch)} sequences. Use a multiple of ${count(found.gpus)}.`, true)
    answer(run, found)
  }

  function refuse(text, possible = false) {
    says.replaceChildren(text)
    shown.replaceChildren()
    command.hidden = !possible
  }

  function commandOf(run) {
    const gpus = run.perNode * run.nodes, {name} = cards[run.card], parts = ["headroom plan", run.model, `--card ${name.includes(" ") ? `"${name}"` : name}`]
    const add = (option, value, usual) => { if (value !== usual) parts.push(`--${option} ${value}`) }
    add("gpus", gpus, 1)
    add("gpus-per-node", run.perNode, Math.min(gpus, 8))
    add("batch", run.batch, 1)
    add("length", run.length, 2048)
    if (run.nodes > 1) add("network", run.network, 400)
    add("link", run.link, "")
    for (const name of ["precision", "kernels", "loss", "optimizer"]) add(name, run[name], DEFAULTS[name])
    if (run.overlap) parts.push("--tensor-overlap")
    if (run.sure) parts.push("--sure")
    return parts
  }

  const layoutsOf = number => `${count(number)} ${number === 1 ? "layout" : "layouts"}`
  const interval = ({low, high}, seconds) => low === null ? "" : `${digits(seconds * low)} to ${digits(seconds * high)}\u00a0s`

  function answer(run, found) {
    const {layouts, accuracy, least} = found, tied = layouts.filter(each => !each.slower), slower = layouts.filter(each => each.slower)
    const job = `${models[run.model].title} on ${count(found.gpus)} × ${cards[run.card].name}, ${count(run.batch * run.length)} tokens per step`
    if (!layouts.length) {
      says.replaceChildren(make("strong", {}, "No layout fits: "), `${job}. `,
        least ? `The least is ${gib(least.low)} to ${gib(least.high)}\u00a0GiB per GPU, with ${least.name}; the card has ${gib(cards[run.card].bytes)}\u00a0GiB. ` : "",
        `Use more GPUs, a larger card, a shorter length${run.loss === "chunked" ? "" : ", or the loss in chunks"}.`)
      return shown.replaceChildren()
    }
    const best = layouts[0], others = tied.length - 1, certain = layouts.find(each => each.certain)
    const between = interval(accuracy, best.time.seconds)
    says.replaceChildren(make("strong", {}, `${best.name}: ${digits(best.time.seconds)}\u00a0s per step${best.certain ? "" : ", if it fits"}. `), between && `The interval is ${between}. `, `${job}. `,
      ...best.certain ? [] : [certain ? `The first that fits for certain is ${certain.name}: ${digits(certain.time.seconds)}\u00a0s. ` : "No layout fits for certain. "],
      others ? `The plan cannot tell ${layoutsOf(others).replace("layout", "other layout")} from the fastest.` : layouts.length > 1 ? "Every other layout is slower by more than the median error." : "It is the only layout that fits.")
    const groups = [["Fastest: differences below the median error", tied], ["Slower by more than the median error", slower]]
    let left = all ? Infinity : SHOWN
    const longest = Math.max(...[...tied, ...slower].slice(0, left).map(each => each.time.seconds)), row = each => item(each, longest, accuracy)
    const lists = groups.flatMap(([title, list]) => {
      const now = list.slice(0, left)
      left -= now.length
      return now.length ? [make("h2", {}, `${title} (${count(list.length)})`), make("ol", {className: "fit-list plan-list"}, ...now.map(row))] : []
    })
    shown.replaceChildren(legend(), ...lists, ...more(layouts.length), ...notes(run, found))
  }

  const PARTS = [["compute", "compute"], ["communication", "exposed communication"], ["bubble", "bubble"], ["rest", "optimizer step and stragglers"]]
  const partsOf = ({compute, communication, bubble, optimizer, straggling}) => ({compute, communication, bubble, rest: optimizer + straggling})
  const legend = () => make("ul", {className: "fit-legend"}, ...PARTS.map(([kind, text]) => make("li", {}, make("i", {className: `plan-${kind}`}), text)))

  function item({name, work, memory, certain, time}, longest, accuracy) {
    const parts = partsOf(time), width = seconds => `width:${(100 * seconds / longest).toFixed(2)}%`
    const runs = `micro-batch ${work.batch} × ${work.accumulation}, ${work.recompute ? "full" : "no"} checkpointing`
    const decimals = Math.max(0, 2 - Math.floor(Math.log10(time.seconds)))
    const sums = PARTS.map(([kind, text]) => [text, parts[kind].toFixed(decimals)]).filter(([, seconds]) => Number(seconds)).map(each => each.join(" ")).join(" + ")
    const track = make("span", {className: "track"}, ...PARTS.map(([kind]) => make("i", {className: `plan-${kind}`, style: width(parts[kind])})))
    return make("li", {}, make("span", {className: "name"}, name, make("small", {}, runs)), track,
      make("span", {className: "peak"}, `${digits(time.seconds)}\u00a0s`, make("small", {}, interval(accuracy, time.seconds))),
      make("small", {className: "plan-memory"}, make("span", {}, `${gib(memory.low)} to ${gib(memory.high)}\u00a0GiB${certain ? "" : ", may not fit"}`), " ", make("span", {}, `${count(Math.round(time.rate))} tokens/s/GPU`)),
      make("small", {className: "plan-sum"}, `${sums} s`))
  }

  function more(total) {
    if (total <= SHOWN) return []
    const button = make("button", {type: "button", className: "md-button", textContent: all ? `Show the first ${SHOWN}` : `Show all ${count(total)} layouts`})
    button.addEventListener("click", () => {
      all = !all
      show()
      shown.querySelector("button").focus()
    })
    return [make("p", {}, button)]
  }

  function notes(run, {withoutRoom, accuracy}) {
    const {same, other, runs} = accuracy
    const error = same === null || other === null ? "Too few published runs of such models to know the error."
      : `Median error of a difference: ${percent(same)} between layouts that divide the model alike, ${percent(other)} between others. The interval covers 80\u00a0% of ${runs} published runs of such models.`
    const said = [
      withoutRoom ? `${layoutsOf(withoutRoom)} ${withoutRoom === 1 ? "does" : "do"} not fit.` : "",
      !run.link && cards[run.card].assumed && run.perNode > 1 ? `No link among these GPUs is recorded: ${assumed} GB/s per direction are assumed.` : "",
      run.precision === "fp8" ? "Memory is that of bf16: what fp8 saves or adds is not counted." : "",
      models[run.model].decoder.experts > 1 ? "Experts: published runs are slower than predicted, by the whole interval." : "",
    ].filter(Boolean)
    return [make("p", {className: "fit-error"}, make("a", {href: "#errors"}, "How far off it is"), `. ${error}`), ...said.length ? [make("p", {className: "fit-note"}, said.join(" "))] : []]
  }

  form.addEventListener("input", () => { all = false; show() })
  form.addEventListener("submit", event => event.preventDefault())
  addEventListener("hashchange", () => { if (location.hash.includes("=") || !location.hash) restore() })
  restore()
}
