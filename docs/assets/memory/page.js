// The page "Will it fit?": its form, the answer, the bar at the peak, and the changes that make a job fit.
{
  const {DEFAULTS, cards} = fitting, {models, errors} = memoryData, root = document.getElementById("will-it-fit")
  const make = (tag, props = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), props)
    made.append(...inside)
    return made
  }
  const gib = bytes => `${(bytes / 2 ** 30).toLocaleString("en", {minimumFractionDigits: 1, maximumFractionDigits: 1})}\u00a0GiB`
  const count = number => number.toLocaleString("en")
  const duration = seconds => seconds < 1 ? `${Number((1000 * seconds).toPrecision(3))}\u00a0ms` : `${Number(seconds.toPrecision(3))}\u00a0s`
  const known = new Map(Object.entries(models).flatMap(([id, {title, names}]) => [id, title, ...names].map(name => [name.toLowerCase(), id])))

  const CHOICES = {
    job: {full: "full fine-tuning", lora: "LoRA", qlora: "QLoRA", inference: "inference", evaluate: "evaluation"},
    precision: {bf16: "bf16 weights", mixed: "bf16 weights, autocast", autocast: "fp32 weights, bf16 autocast", fp32: "fp32"},
    optimizer: {
      adamw_torch_fused: "AdamW, fused", adamw_torch: "AdamW, foreach", adamw_bnb_8bit: "8-bit AdamW (bitsandbytes)",
      paged_adamw_8bit: "paged 8-bit AdamW", adamw_torch_8bit: "8-bit AdamW (torchao)", adamw_torch_4bit: "4-bit AdamW (torchao)",
      adafactor: "Adafactor", lion_8bit: "8-bit Lion", muon: "Muon", sgd_momentum: "SGD, momentum", sgd: "SGD",
    },
    quantization: {auto: "none", int8: "8-bit weights (LLM.int8)", fp8: "8-bit weights (fp8)", nf4: "4-bit weights (NF4)", int4: "4-bit checkpoint (AWQ, GPTQ)"},
    loss: {whole: "all logits at once", chunked: "in chunks", fused: "fused (Liger)"},
    card: Object.fromEntries(Object.values(cards).map(({id, name, printed}) => [id, `${name} · ${printed}`])),
  }
  const CHANGES = {
    fused: "fused AdamW", chunked: "chunked loss", checkpointing: "gradient checkpointing", batch: "half the batch, accumulated twice",
    eight: "8-bit AdamW", offload: "optimizer states in CPU memory", lora: "LoRA", qlora: "QLoRA", ...CHOICES.quantization,
  }
  const LABELS = {
    model: "Model", card: "GPU", job: "Job", batch: "Sequences per GPU", length: "Tokens per sequence", precision: "Precision",
    optimizer: "Optimizer", accumulation: "Gradient accumulation", loss: "Logits and loss", rank: "Rank",
    checkpointing: "Gradient checkpointing", offload: "Optimizer states in CPU memory", quantization: "Quantization",
  }
  const MOST = {batch: 65536, length: 16777216, accumulation: 65536, rank: 8192}
  const TRAINING = ["optimizer", "accumulation", "loss", "checkpointing", "offload"]

  function field(name) {
    const type = typeof DEFAULTS[name] === "boolean" ? "checkbox" : name in MOST ? "number" : "text"
    const control = name in CHOICES
      ? make("select", {name}, ...Object.entries(CHOICES[name]).map(([value, text]) => make("option", {value}, text)))
      : make("input", {name, type, ...type === "number" ? {min: 1, max: MOST[name], step: 1} : {autocomplete: "off"}})
    if (name === "model") control.setAttribute("list", "models")
    return make("label", {className: type === "checkbox" ? "switch" : `field-${name}`}, ...type === "checkbox" ? [control, LABELS[name]] : [LABELS[name], control])
  }

  const names = make("datalist", {id: "models"}, ...Object.values(models).flatMap(({title, names}) =>
    [make("option", {value: title}), ...names.map(value => make("option", {value, label: title}))]))
  const form = make("form", {className: "fit-form", autocomplete: "off"},
    make("div", {}, ...["model", "card", "job"].map(field)),
    make("div", {}, ...["batch", "length", "precision", "quantization", "optimizer", "accumulation", "loss", "rank", "checkpointing", "offload"].map(field)), names)
  const says = make("p", {className: "fit-says"})
  says.setAttribute("role", "status")
  const shown = make("div", {})
  root.replaceChildren(form, says, shown)
  root.classList.add("fit")
  const control = name => form.elements.namedItem(name)

  // The state: every setting that differs from the default is in the address.
  function restore() {
    const wanted = tableFilters.recalled()
    for (const [name, value] of Object.entries(DEFAULTS)) {
      if (!control(name)) continue
      const given = wanted.get(name) ?? value
      if (control(name).type === "checkbox") control(name).checked = given === "1" || given === true
      else if (name === "model") control(name).value = models[known.get(String(given).toLowerCase())]?.title ?? given
      else control(name).value = given
      if (!control(name).value) control(name).value = value
    }
    show()
  }

  function read() {
    const job = {...DEFAULTS}
    for (const name of Object.keys(DEFAULTS)) {
      if (!control(name)) continue
      job[name] = typeof DEFAULTS[name] === "boolean" ? control(name).checked : name in MOST ? Number(control(name).value) : control(name).value
    }
    job.model = known.get(job.model.trim().toLowerCase())
    if (!memory.isTraining(job)) for (const name of TRAINING) job[name] = DEFAULTS[name]
    if (job.job !== "inference") job.quantization = DEFAULTS.quantization
    return job
  }

  const changed = job => Object.fromEntries(Object.entries(job).filter(([name, value]) => value !== DEFAULTS[name])
    .map(([name, value]) => [name, value === true ? 1 : value]))
  const address = job => new URLSearchParams(changed(job)).toString()

  // What can be chosen: settings of the job, and precisions that were traced.
  function adapt(job) {
    for (const name of [...TRAINING, "rank"])
      control(name).closest("label").hidden = name === "rank" ? !["lora", "qlora"].includes(job.job) : !memory.isTraining(job)
    control("quantization").closest("label").hidden = job.job !== "inference"
    const traced = precision => typeof memory.variantOf(models[job.model], {...job, precision, job: job.job === "inference" ? "prefill" : job.job}) === "object"
    for (const option of control("precision").options) option.disabled = !traced(option.value)
    if (traced(job.precision)) return
    const first = [...control("precision").options].find(option => !option.disabled)
    if (first) job.precision = control("precision").value = first.value
  }

  function show() {
    const wrong = Object.keys(MOST).find(name => !control(name).checkValidity())
    const job = read()
    if (!job.model) return refuse(`No model “${control("model").value}” is known here. Choose one of the list, or run headroom estimate with its config.json.`)
    if (wrong) return refuse(`${LABELS[wrong]}: give a whole number from 1 to ${count(MOST[wrong])}.`)
    adapt(job)
    tableFilters.remember(changed(job))
    const found = fitting.estimated(job), card = cards[job.card]
    if (found.error) return refuse(`${models[job.model].title} has no estimate for this job: ${found.error}.`)
    answer(job, found, card)
    shown.replaceChildren(bar(job, found, card), ...largest(job, card), ...times(job, card), ...ways(job, found, card))
  }

  function refuse(text) {
    says.replaceChildren(text)
    shown.replaceChildren()
  }

  const enough = (found, bytes) => Object.values(cards).filter(card => fitting.verdict(found, card.bytes) === 2)
  function answer(job, found, card) {
    const state = fitting.verdict(found, card.bytes)
    const word = ["Does not fit", "May fit, within the error", "Fits"][state]
    const smallest = enough(found)[0]
    const others = state === 2 ? "" : smallest ? ` It fits in ${smallest.printed}, as on the ${smallest.name}.` : " It fits on no card of the list."
    says.replaceChildren(make("strong", {}, `${word}: `),
      `${models[job.model].title}, ${CHOICES.job[job.job]}, takes ${gib(found.low)} to ${gib(found.high)}. The ${card.name} has ${gib(card.bytes)}.${others}`)
    root.dataset.verdict = state
  }

  // What is left out: the masks that SDPA saves in layers whose sliding window is not longer than the sequence.
  function masks(job) {
    const {sdpa, layers} = models[job.model], masked = layers.filter(([, window]) => sdpa && window > 0 && window <= job.length)
    const count = masked.reduce((total, [, , each]) => total + each, 0)
    const saved = memory.isTraining(job) && !job.checkpointing ? count : Math.min(count, 1)
    const bytes = saved * (job.precision === "fp32" ? 4 : 2) * job.batch * job.length ** 2
    const tenths = Math.floor(10 * bytes / 2 ** 30)
    return tenths ? ` The estimate is too low by ${gib(tenths / 10 * 2 ** 30)} or more: it does not count the mask of the sliding window.` : ""
  }

  // The stacked bar at the peak, against the lines of the cards.
  function bar(job, found, card) {
    const full = Math.max(found.high, card.bytes) * 1.08, percent = bytes => `${(100 * bytes / full).toFixed(2)}%`
    const parts = found.top.parts.filter(([, bytes]) => bytes / found.peak > .0005)
    const kind = name => name.replace(/ .*/, "").toLowerCase()
    const pieces = parts.map(([name, bytes]) => make("i", {className: kind(name), style: `width:${percent(bytes)}`}))
    const lines = [make("b", {className: "mine", style: `left:${percent(card.bytes)}`}, make("span", {}, card.printed))]
    let last = -1
    const apart = full * (matchMedia("(max-width: 45em)").matches ? .22 : .09)
    for (const {printed, bytes} of Object.values(cards).filter(each => each.printed !== card.printed).sort((one, other) => one.bytes - other.bytes)) {
      if (bytes > full - apart / 1.5 || bytes - last < apart || Math.abs(bytes - card.bytes) < full * .05) continue
      last = bytes
      lines.push(make("b", {style: `left:${percent(bytes)}`}, make("span", {}, printed)))
    }
    const error = make("s", {style: `left:${percent(found.low)};width:${percent(found.high - found.low)}`, title: "with CUDA's context and the allocator"})
    const drawn = make("div", {className: "fit-bar"}, ...lines, make("div", {}, ...pieces, error))
    drawn.setAttribute("role", "img")
    drawn.setAttribute("aria-label", `${gib(found.peak)} at the peak, and the memory of the card, ${gib(card.bytes)}`)
    const legend = parts.map(([name, bytes]) => make("li", {}, make("i", {className: kind(name)}), `${name} ${gib(bytes)}`))
    const next = found.next ? ` The runner-up is “${found.next.phase}”, with ${gib(found.next.bytes)}.` : ""
    const about = document.querySelector("a[href*=estimate-errors]")?.href
    return make("div", {}, drawn, make("ul", {className: "fit-legend"}, ...legend),
      make("p", {}, make("strong", {}, `The peak is ${gib(found.peak)}, in the phase “${found.top.phase}”.`), next,
        " The thin line: what CUDA's context and the allocator add."),
      make("p", {className: "fit-error"}, about ? make("a", {href: about}, "Known error of the peak") : "Known error of the peak", `: ${errors[job.quantization === "auto" ? job.job : "quantized"]}.${masks(job)}`))
  }

  const tokens = (length, model) => model.limit && length > model.limit ? `${count(model.limit)} tokens, all that the model takes` : `${count(length)} tokens`
  const sequences = number => `${count(number)} ${number === 1 ? "sequence" : "sequences"}`
  const room = (job, {batch, length}) => `${sequences(batch)} of ${count(job.length)} tokens, or ${sequences(job.batch)} of ${tokens(length, models[job.model])}`
  function largest(job, card) {
    const found = fitting.room(job, card.bytes)
    return [make("p", {}, !found.length ? "With these settings, not even one token fits." : found.batch ? `At most fit ${room(job, found)}.`
      : `With this batch, at most ${tokens(found.length, models[job.model])} fit.`)]
  }

  // The least time of a prefill and of a decode step, with the larger of what is read and computed.
  function times(job, card) {
    if (job.job !== "inference") return []
    const made = ["prefill", "decode"].map(kind => leastTime(job.model, card.id, {...job, job: kind, cache: job.precision === "fp32" ? "fp32" : "bf16"}))
    if (made.some(each => !each)) return []
    const about = document.querySelector("a[href*=prefill-and-decode]")?.href, why = "printed rates"
    const bound = ({reading, computing}) => reading < computing ? "bound by FLOPs" : "bound by bandwidth"
    const [first, next] = made.map(each => `${duration(each.seconds)}, ${bound(each)}`)
    return [make("p", {className: "fit-time"}, `The least time of the prefill is ${first}; of a decode step with this cache ${next}. Kernels reach a part of the `,
      about ? make("a", {href: about}, why) : why, " that this follows from.")]
  }

  function ways(job, found, card) {
    const list = fitting.ways(job, card.bytes)
    if (fitting.verdict(found, card.bytes) === 2 || job.job === "evaluate") return []
    if (!list.length) return [make("p", {}, "No change of this list makes it fit. Take a smaller model, a larger card or several GPUs.")]
    return [make("h2", {}, `Make it fit in ${card.printed}`), make("ol", {className: "fit-ways"}, ...list.map(way))]
  }

  function way({names, job, found, batch, length}) {
    const title = names.map(name => CHANGES[name]).join(" + ")
    const link = make("a", {href: `#${address(job)}`}, title[0].toUpperCase() + title.slice(1))
    const costs = names.flatMap(name => {
      const row = document.getElementById(`change-${name}`)?.closest("tr")
      if (!row) return []
      const cost = [...row.cells[2].cloneNode(true).childNodes]
      return [make("li", {}, row.cells[0].firstElementChild.cloneNode(true), ": ", ...cost)]
    })
    for (const each of costs) each.querySelector("a").removeAttribute("id")
    return make("li", {}, make("h3", {}, link), make("p", {}, make("strong", {}, gib(found.peak)), `, at most ${room(job, {batch, length})}`), make("ul", {}, ...costs))
  }

  // A list of suggestions shows what the text matches: so the field is empty while it is entered.
  const model = control("model")
  model.addEventListener("focus", () => { model.placeholder = model.value; model.value = "" })
  model.addEventListener("blur", () => { model.value ||= model.placeholder; if (!known.has(model.value.trim().toLowerCase())) show() })
  form.addEventListener("input", event => { if (event.target !== model || known.has(model.value.trim().toLowerCase())) { model.value ||= model.placeholder; show() } })
  form.addEventListener("submit", event => event.preventDefault())
  addEventListener("hashchange", () => { if (location.hash.includes("=") || !location.hash) { restore(); says.scrollIntoView({block: "center"}) } })
  restore()
}
