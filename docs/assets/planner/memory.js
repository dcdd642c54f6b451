// The memory of full bf16 training with fp32 master weights on the GPU of a layout that holds the most: equal to Python's.
const layoutMemory = (() => {
  const {families, polys, fixed} = planData
  const {sum, product, most, rounded, parsed, evaluate, loss} = memoryFormulas(polys)
  const WIDTH = 2, CHUNK = 512, OUTSIDE = "outside"
  const ceil = (size, by) => Math.ceil(size / by)

  // The bytes of a tensor's optimizer states, next to its fp32 master weights.
  const STATES = {
    adamw_torch_fused: count => 8 * count,
    adamw_bnb_8bit: (count, kind) => count < 4096 || kind === "embedding" ? 8 * count : 2 * (count + 4 * ceil(count, 256)),
  }

  const copies = layout => layout.data * layout.context
  const gpus = layout => copies(layout) * layout.tensor * layout.pipeline
  const shards = layout => layout.strategy === "hsdp" ? layout.shard : copies(layout)
  const sharded = layout => layout.strategy === "fsdp" || layout.strategy === "hsdp"
  const weightShards = layout => sharded(layout) ? shards(layout) : 1
  const stateShards = layout => sharded(layout) || layout.strategy === "zero1" ? shards(layout) : 1

  // A size such as `2*f` or `a/kv`.
  const size = (text, symbols) => typeof text === "number" ? text : [...text.matchAll(/([*/]?)(\w+)/g)].reduce((all, [, sign, name]) => {
    const next = symbols[name] ?? Number(name)
    return sign === "/" ? all / next : all * next
  }, 1)

  // The sizes of one GPU's part of each layer; nothing if tensor parallelism does not divide them.
  function localSymbols(model, layout, length) {
    const found = {...model.symbols, S: length / layout.context, C: length, r: 16}
    for (const name of ["a", "f", "m", "fs"].filter(each => each in found)) {
      if (found[name] % layout.tensor) return null
      found[name] /= layout.tensor
    }
    if (found.kv % layout.tensor && layout.tensor % found.kv) return null
    found.kv = Math.max(1, Math.trunc(found.kv / layout.tensor))
    if (layout.tensor > 1) found.V = ceil(found.V, layout.tensor)
    found.K = Math.min(CHUNK, found.S)
    for (const [name, text] of Object.entries(families[model.family].derived)) found[name] ??= size(text, found)
    return found
  }

  // The tensors of a pipeline stage that are on its GPU throughout, and the gradients of each kind of layer.
  function residentOf(model, layout, symbols, optimizer, kinds, first, last) {
    const counts = {}
    for (const kind of [...kinds, OUTSIDE]) counts[kind] = (counts[kind] ?? 0) + 1
    const has = kind => kind === "embedding" ? first || last && model.tied : last
    const tensors = Object.fromEntries(Object.keys(counts).map(group => [group, families[model.family].weights[group]
      .filter(([, kind]) => group !== OUTSIDE || has(kind) && !(model.tied && kind === "head"))
      .map(([shape, kind, count]) => {
        const elements = product(shape.map(each => size(each, symbols)))
        return {kind, count, elements: kind === "expert" ? elements / layout.expert : elements}
      })]))
    // The sum of bytes, divided by the GPUs that share each tensor.
    const divided = (list, of, by) => {
      const found = {}
      for (const each of list) {
        const parts = each.kind === "expert" ? Math.max(1, Math.floor(by / layout.expert)) : by
        found[parts] = (found[parts] ?? 0) + of(each)
      }
      return sum(Object.entries(found), ([parts, bytes]) => ceil(bytes, parts))
    }
    const every = Object.entries(counts).flatMap(([group, count]) => tensors[group].map(each => ({...each, count: each.count * count})))
    const held = each => each.count * rounded(WIDTH * each.elements)
    const states = ({kind, count, elements}) => count * (rounded(STATES[optimizer](elements, kind)) + rounded(4 * elements))
    const byWeights = weightShards(layout), groups = byWeights > 1
    const alone = Math.max(1, Math.floor(byWeights / layout.expert)) === 1
    const exchanged = group => tensors[group].filter(each => !(alone && each.kind === "expert"))
    const gradients = group => divided(tensors[group], held, byWeights)
    const below = tensors[OUTSIDE].filter(each => each.kind !== "embedding")
    const all = sum(Object.entries(counts), ([group, count]) => count * gradients(group))
    const tied = tensors[OUTSIDE].filter(each => each.kind === "embedding").map(each => each.elements)

    // FSDP gathers the tensors outside of the layers, and two layers because of prefetching.
    const gatheredOf = group => sum(exchanged(group), held), outside = gatheredOf(OUTSIDE)
    const layers = Object.keys(counts).filter(group => group !== OUTSIDE).map(group => [gatheredOf(group), counts[group]]).sort(([one], [other]) => other - one)
    const second = layers[0][1] > 1 ? layers[0][0] : layers[1]?.[0] ?? 0
    return {
      first, last, kinds, groups,
      always: divided(every, held, byWeights) + divided(every, states, stateShards(layout)) + (layout.strategy === "ddp" && layout.data > 1 ? all : 0),
      gathered: groups ? outside + layers[0][0] + second : 0,
      gatheredAtTheEnd: groups ? outside : 0,
      gradients: Object.fromEntries(Object.keys(counts).map(group => [group, gradients(group)])), all,
      head: groups ? 0 : divided(below, held, 1),
      pending: model.tied && first && last ? rounded(WIDTH * most(tied)) : 0,
      reduced: group => groups ? WIDTH * sum(exchanged(group), each => each.count * each.elements) : 0,
      unreducedHead: groups ? sum(below, held) : 0,
      unreducedOutside: groups ? sum(tensors[OUTSIDE], held) : 0,
    }
  }

  // The largest moment of one optimizer step on one stage.
  function peakOf(model, layout, variant, here, symbols, job, inFlight) {
    const {tensor, context} = layout, along = names => ["B,S", "B,S,h"].includes([...new Set(names)].sort().join())
    // Context parallelism divides queries and not keys: a term with S·S is divided once. Sequence parallelism divides the terms of the size B·S·h.
    const localTerms = terms => {
      const scaled = terms.map(([bytes, names]) => [names.filter(name => name === "S").length > 1 ? bytes * context : bytes, names])
      if (tensor === 1) return evaluate(scaled, symbols)
      return evaluate(scaled.filter(([, names]) => !along(names)), symbols) + ceil(evaluate(scaled.filter(([, names]) => along(names)), symbols), tensor)
    }
    const local = number => localTerms(parsed[number])
    // A pipeline stage has a buffer per micro-batch and neighbour. In the backward pass it also holds what it sends, and the last one its logits.
    const buffers = backward => {
      const sides = Number(!here.first) + Number(!here.last)
      const logits = sides && here.last && backward && job.loss === "whole" ? localTerms([[WIDTH, ["B", "S", "V"]]]) : 0
      return sides * (job.accumulation + Number(backward)) * localTerms([[WIDTH, ["B", "S", "h"]]]) + logits
    }
    const largest = numbers => most(numbers.map(local)), persist = job.accumulation > 1, adds = persist && !here.groups
    const known = {}
    const layers = here.kinds.map(kind => known[kind] ??= (() => {
      const [, cached, saved, forward, backward, accumulated] = variant.layers[kind]
      return {kind, cached: Math.max(0, local(cached)), saved: local(saved), forward: largest(forward),
        backward: largest(adds && accumulated.length ? accumulated : backward)}
    })())
    const before = localTerms(parsed[variant.before].filter(([, names]) => here.first || !names.includes("h"))), saved = sum(layers, each => each.saved)
    const waiting = (inFlight - 1) * (before + saved), pending = variant.tied ? 0 : here.pending
    const always = here.always + rounded(16 * symbols.B * symbols.S), forwardAlways = always + buffers(false), backwardAlways = always + buffers(true)
    let peak = 0
    const moment = (constant, kept, gradients, now, gathered = here.gathered, unreduced = 0) => {
      peak = Math.max(peak, constant + gathered + (persist ? here.all : gradients) + unreduced + kept + now)
    }

    let kept = before + waiting
    for (const layer of layers) {
      moment(forwardAlways, kept, 0, layer.forward)
      kept += layer.cached
    }
    const [lossForward, lossBackward] = here.last ? loss(variant, symbols, job) : [0, 0]
    if (here.last) moment(forwardAlways, kept, 0, lossForward)

    kept = before + waiting + saved
    if (here.last) moment(backwardAlways, kept, 0, lossBackward)
    let gradients = here.head
    for (let number = layers.length - 1; number >= 0; number--) {
      const layer = layers[number], above = layers[number + 1]
      kept -= layer.saved
      moment(backwardAlways, kept, gradients + pending, layer.backward, here.gathered, here.unreducedHead + (above ? here.reduced(above.kind) : 0))
      gradients += here.gradients[layer.kind]
    }
    const [backward, accumulated] = variant.end
    const end = here.first ? largest(adds && accumulated.length ? accumulated : backward) : 0
    moment(backwardAlways, waiting, gradients + 2 * pending, end, here.groups ? here.gatheredAtTheEnd : here.gathered, here.unreducedHead + here.reduced(layers[0].kind))
    if (here.groups) moment(backwardAlways, waiting, gradients, 0, 0, here.unreducedOutside + here.reduced(OUTSIDE))
    moment(forwardAlways, 0, here.all, 0, 0)
    return peak
  }

  // A function from micro-batch, accumulation and checkpointing to the bytes that a process takes; nothing if it was not traced.
  function of(model, layout, {length, lossKind, optimizer}) {
    const symbols = localSymbols(model, layout, length)
    if (!symbols) return () => null
    const kinds = model.kinds.flatMap(([kind, count]) => Array(count).fill(kind)), {pipeline} = layout, each = ceil(kinds.length, pipeline)
    const stage = (list, first, last) => residentOf(model, layout, symbols, optimizer, list, first, last)
    // The first, the second and the last stage, each with its micro-batches in flight.
    const stages = pipeline === 1 ? [[stage(kinds, true, true), 1]]
      : [[stage(kinds.slice(0, each), true, false), pipeline], [stage(kinds.slice(-each), false, true), 1]]
    if (pipeline > 2) stages.push([stage(kinds.slice(each, 2 * each), false, false), pipeline - 1])
    const beside = fixed[gpus(layout) === 1 ? "one" : "several"]
    return (batch, accumulation, checkpointing) => {
      const variant = model.variants[Number(checkpointing)]
      if (!variant) return null
      const job = {job: "full", precision: "bf16", loss: lossKind, chunk: CHUNK, accumulation}
      const peak = most(stages.map(([here, inFlight]) =>
        peakOf(model, layout, variant, here, {...symbols, B: batch}, job, Math.min(inFlight, accumulation))))
      return {peak, low: peak + beside.low, high: peak + beside.high + Math.trunc(peak * beside.share)}
    }
  }

  return {of, copies, gpus, shards, sharded, weightShards, stateShards}
})()
