// The layouts of a training run that fit, best first, and which step times the model's error can tell apart: as headroom.plan.
const planner = (() => {
  const {models, cards, accuracy} = planData, {of, copies, weightShards} = layoutMemory
  const MOST_PIPELINE = 16, MOST_BATCH = 16, LEAST_TOKENS = 4096
  const WORDS = {ddp: "DDP", zero1: "ZeRO-1", fsdp: "FSDP", hsdp: "HSDP"}
  const powers = most => Array.from({length: 1 + Math.floor(Math.log2(most))}, (_, each) => 2 ** each)

  function* layouts({decoder}, {length, batch}, cluster) {
    for (const tensor of powers(Math.min(cluster.perNode, decoder.key_value_heads)))
      for (const pipeline of powers(MOST_PIPELINE))
        for (const context of powers(Math.max(1, Math.floor(length / LEAST_TOKENS)))) {
          const ranks = tensor * pipeline * context, data = cluster.gpus / ranks
          if (cluster.gpus % ranks || decoder.heads % tensor || decoder.key_value_heads % tensor || decoder.intermediate % tensor) continue
          if (context > 1 && length % (2 * context) || decoder.layers % pipeline || batch % data) continue
          yield* strategies({strategy: "none", data: 1, shard: 1, tensor, pipeline, context, expert: 1}, data, decoder, cluster)
        }
  }

  // A layout with each kind of data parallelism, and with each division of the experts.
  function* strategies(layout, data, decoder, cluster) {
    const ring = data * layout.context
    if (ring === 1) return yield layout
    const shard = Math.max(1, Math.floor(cluster.perNode / layout.tensor))
    for (const expert of powers(Math.min(data, decoder.experts))) {
      if (data % expert || decoder.experts % expert) continue
      for (const strategy of ["ddp", "zero1", "fsdp"]) yield {...layout, strategy, data, expert}
      if (shard > 1 && shard < ring && ring % shard === 0 && layout.pipeline === 1 && expert === 1) yield {...layout, strategy: "hsdp", data, shard}
    }
  }

  // Each division of a rank's sequences into micro-batches, without and with activation checkpointing.
  function works({length, batch, precision, kernels, overlap}, layout) {
    const sequences = Math.floor(batch / layout.data)
    return powers(Math.min(MOST_BATCH, sequences)).filter(each => sequences % each === 0 && sequences / each >= layout.pipeline)
      .flatMap(each => [0, 1].map(recompute => ({length, batch: each, accumulation: sequences / each, precision, kernels, overlap, recompute})))
  }

  function name(layout) {
    const ring = copies(layout), {strategy, shard} = layout, parts = []
    if (ring > 1) parts.push(`${WORDS[strategy]} ${strategy === "hsdp" ? `${ring / shard}×${shard}` : ring}`)
    for (const [word, size] of [["TP", layout.tensor], ["PP", layout.pipeline], ["CP", layout.context], ["EP", layout.expert]])
      if (size > 1) parts.push(`${word} ${size}`)
    return parts.join(" × ") || "one GPU"
  }

  const smallest = timed => timed.reduce((one, other) => other.work.batch < one.work.batch ||
    other.work.batch === one.work.batch && other.work.recompute > one.work.recompute ? other : one)

  // The fastest way to run a layout that fits; a larger micro-batch than one that does not fit is not tried.
  function first(timed, fits) {
    if (!fits(smallest(timed).work)) return null
    const tooLarge = {}
    for (const {work, time} of timed) {
      if (work.batch >= (tooLarge[work.recompute] ?? Infinity)) continue
      const memory = fits(work)
      if (memory) return {work, time, memory}
      tooLarge[work.recompute] = work.batch
    }
    return null
  }

  const division = layout => [weightShards(layout) > 1, layout.tensor, layout.pipeline, layout.context, layout.expert].join()

  // Of a run: model, card, perNode, nodes, network, link, batch, length, precision, kernels, overlap, loss, optimizer, sure.
  function plan(run) {
    const model = models[run.model], card = cards[run.card], count = run.perNode * run.nodes
    const cluster = {gpus: count, perNode: run.perNode, rates: card.rates, memory: card.bandwidth,
      link: run.link ? run.link * 1e9 : card.link, network: run.network / 8 * 1e9}
    const found = []
    let tried = 0, least = null
    for (const layout of layouts(model, run, cluster)) {
      const timed = works(run, layout).map(work => ({work, time: stepTime(model.decoder, work, layout, cluster)}))
        .sort((one, other) => one.time.seconds - other.time.seconds)
      if (!timed.length) continue
      tried++
      const memory = of(model, layout, {length: run.length, lossKind: run.loss, optimizer: run.optimizer})
      const chosen = first(timed, work => {
        const needed = memory(work.batch, work.accumulation, work.recompute === 1)
        return needed && needed.low <= card.bytes && (!run.sure || needed.high <= card.bytes) ? needed : null
      })
      if (chosen) found.push({layout, name: name(layout), certain: chosen.memory.high <= card.bytes, ...chosen})
      const {work} = smallest(timed), needed = chosen ? null : memory(work.batch, work.accumulation, work.recompute === 1)
      if (needed && (!least || needed.low < least.low)) least = {name: name(layout), low: needed.low, high: needed.high}
    }
    found.sort((one, other) => one.time.seconds - other.time.seconds || (one.name < other.name ? -1 : 1))
    const known = accuracy[model.decoder.experts > 1 ? "experts" : "dense"]
    for (const each of found) {
      const threshold = division(found[0].layout) === division(each.layout) ? known.same : known.other
      each.slower = threshold !== null && Math.abs(Math.log(found[0].time.seconds / each.time.seconds)) > threshold
    }
    return {layouts: found, tried, withoutRoom: tried - found.length, accuracy: known, gpus: count, least: found.length ? null : least}
  }

  return {plan}
})()
