// The least time of a prefill or a decode step on a card, as headroom.memory.least_time: bytes read over the printed
// bandwidth, and FLOPs over the dense peak.
const leastTime = (() => {
  const {models, speeds} = memoryData, {sum, product} = memoryFormulas([])
  const {widthOf, computeWidth} = memoryJobs
  const some = (list, of) => sum(Object.entries(list), ([kind, tensors]) => sum(tensors, each => of(kind, each)))

  // The numbers of queries and of outputs of all heads. Latent attention decodes with latent vectors.
  const headSizes = ({a, d, kl, dr, dn, dv}, decoding) => kl === undefined ? 2 * a * d : a * (decoding ? 2 * kl + dr : dn + dr + dv)

  function attention(model, job, decoding) {
    const sizes = headSizes(model.symbols, decoding)
    return sum(model.layers, ([, window, count]) => {
      if (decoding) return count * 2 * job.batch * (window ? Math.min(job.length, window) : job.length) * sizes
      const seen = window ? Math.min(job.length, window + 1) : job.length
      return count * 2 * job.batch * (seen * (seen + 1) / 2 + (job.length - seen) * seen) * sizes
    })
  }

  // Seconds to read and to compute, and what is read; nothing if the card or the model has no such figure.
  return (name, card, job) => {
    const model = models[name], speed = speeds[card], {V, e, E} = model.symbols, decoding = job.job === "decode"
    if (!speed || model.layers.some(([, window]) => window < 0)) return null
    const tokens = job.batch * (decoding ? 1 : job.length), counts = {}
    for (const [kind, , count] of model.layers) counts[kind] = (counts[kind] ?? 0) + count
    const used = E ? 1 - (1 - e / E) ** tokens : null, head = model.tied ? "embedding" : "head"
    const times = (kind, [shape, type, count]) =>
      kind === "outside" ? (type === head && shape.includes(V) ? count : 0) : counts[kind] * count
    const bytes = (kind, [shape, type]) => kind !== "outside" && weightFormats.bytes(job, shape, type) || widthOf(job) * product(shape)
    const weights = some(model.weights, (kind, each) => times(kind, each) * bytes(kind, each) * (each[1] === "expert" ? used : 1))
    const matmuls = some(model.weights, (kind, each) => each[0].length < 2 ? 0 : 2 * times(kind, each) * product(each[0])
      * (kind === "outside" ? job.batch : each[1] === "expert" ? tokens * e / E : tokens))
    const cached = ([, window, count]) => count * (window ? Math.min(job.length, window) : job.length)
    const cache = decoding ? job.batch * model.numbers * sum(model.layers, cached) * (job.cache === "fp32" ? 4 : 2) : 0
    const flops = matmuls + attention(model, job, decoding)
    const [bandwidth, rates] = speed, rate = rates[weightFormats.of(job)] ?? rates[computeWidth(job)] ?? null
    const reading = (weights + cache) / bandwidth, computing = rate ? flops / rate : 0
    return {seconds: Math.max(reading, computing), reading, computing, weights, cache, flops, experts_read: used}
  }
})()
