// Whether a job fits on a card, the largest batch and context that do, and the cheapest changes that make it fit.
const fitting = (() => {
  const DEFAULTS = {
    model: "llama-3.1-8b", card: "rtx-4090", job: "full", precision: "bf16", optimizer: "adamw_torch_fused", batch: 1, length: 2048,
    accumulation: 1, checkpointing: false, loss: "whole", chunk: 512, rank: 16, offload: false,
    quantization: "auto",
  }
  const cards = Object.fromEntries(memoryData.cards.map(([id, name, printed, bytes]) => [id, {id, name, printed, bytes}]))
  const estimated = job => memory.estimateTask(job.model, job)
  // 2: fits, 1: within the error, 0: does not fit.
  const verdict = (found, bytes) => found.error ? 0 : found.high <= bytes ? 2 : found.low > bytes ? 0 : 1
  const fits = (job, bytes) => verdict(estimated(job), bytes) === 2

  function largest(job, field, most, bytes) {
    let [low, high] = [0, most]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (fits({...job, [field]: middle}, bytes)) low = middle
      else high = middle - 1
    }
    return low
  }

  const adapted = kind => job => ({job: kind, precision: ["bf16", "mixed", "fp32"].find(precision =>
    typeof memory.variantOf(memoryData.models[job.model], {...job, job: kind, precision}) === "object") ?? job.precision})
  // In the order of their cost: time first, then the optimizer, then what is trained.
  const SMALL = {
    fused: job => job.optimizer === "adamw_torch" && {optimizer: "adamw_torch_fused"},
    chunked: job => job.loss === "whole" && {loss: "chunked"},
    checkpointing: job => !job.checkpointing && {checkpointing: true},
    batch: job => job.batch > 1 && job.batch % 2 === 0 && {batch: job.batch / 2, accumulation: job.accumulation * 2},
  }
  const LARGE = {
    none: () => ({}),
    eight: job => job.optimizer.startsWith("adamw_torch") && job.job === "full" && {optimizer: "adamw_bnb_8bit"},
    offload: job => !job.offload && job.job === "full" && {offload: true},
    lora: job => job.job === "full" && adapted("lora")(job),
    qlora: job => job.job !== "qlora" && adapted("qlora")(job),
  }

  // For inference, the largest weights first.
  const WEIGHTS = {int8: "int8", nf4: "nf4", int4: "int4"}

  const apply = (job, names) => names.reduce((found, name) => {
    const change = ({...SMALL, ...LARGE})[name](found)
    return change ? {...found, ...change} : found
  }, job)

  // The small changes that a job needs to fit, each of which lowers the peak; nothing if all of them do not suffice.
  function enough(job, bytes) {
    const made = []
    let waiting = Object.keys(SMALL), now = estimated(job)
    while (verdict(now, bytes) < 2) {
      const next = waiting.find(name => {
        const change = SMALL[name](apply(job, made)), found = change && estimated({...apply(job, made), ...change})
        return found && !found.error && found.peak < now.peak
      })
      if (!next) return null
      made.push(next)
      waiting = waiting.filter(name => name !== next)
      now = estimated(apply(job, made))
    }
    return made.filter((name, place) => place === made.length - 1 || !fits(apply(job, made.filter(each => each !== name)), bytes))
  }

  // One way per large change: its changes, its job and what fits then.
  function ways(job, bytes) {
    if (job.job === "inference") return Object.entries(WEIGHTS).flatMap(([name, quantization]) => {
      const found = {...job, quantization}
      return job.quantization === "auto" && fits(found, bytes) ? [{names: [name], job: found, ...room(found, bytes)}] : []
    })
    if (!memory.isTraining(job)) return []
    return Object.entries(LARGE).flatMap(([name, change]) => {
      const changed = change(job), start = {...job, ...changed}, needed = changed && enough(start, bytes)
      if (!needed) return []
      const found = apply(start, needed), names = [...name === "none" ? [] : [name], ...needed]
      return names.length ? [{names, job: found, ...room(found, bytes)}] : []
    })
  }

  const room = (job, bytes) => ({
    found: estimated(job), batch: largest(job, "batch", 1 << 16, bytes), length: largest(job, "length", 1 << 24, bytes),
  })

  return {DEFAULTS, cards, estimated, verdict, ways, room}
})()
