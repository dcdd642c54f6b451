// The memory estimate of headroom.memory for one GPU: equal to the Python estimate to the byte.
const memory = (() => {
  const {polys, groups, models, fixed} = memoryData
  const {sum, product, most, rounded, value, largest, loss} = memoryFormulas(polys)
  const {isTraining, isAdapted, widthOf, computeWidth} = memoryJobs

  // The bytes of a tensor's optimizer states, by its shape, its kind and the bytes per element.
  const same = copies => (shape, kind, width) => copies * width * product(shape)
  const bitsandbytes = (copies, bits) => (shape, kind) => {
    const count = product(shape)
    return bits === 32 || count < 4096 || kind === "embedding" ? 4 * copies * count : copies * (count + 4 * Math.ceil(count / 256))
  }
  const torchao = (bits, block) => (shape, kind, width) => {
    const count = product(shape)
    return count < 4096 || count % block ? 2 * width * count : 2 * (count * bits / 8 + 4 * count / block)
  }
  const adafactor = (shape, kind, width) => shape.length < 2 ? 4 * product(shape) : 4 * product(shape.slice(0, -2)) * (shape.at(-2) + shape.at(-1))
  const isMatrix = (shape, kind) => shape.length === 2 && kind !== "embedding" && kind !== "head"
  const muon = (shape, kind, width) => (isMatrix(shape, kind) ? 1 : 2) * width * product(shape)
  const paged = states => (shape, kind, width) => product(shape) >= 100000 ? 0 : states(shape, kind, width)

  // What an optimizer step allocates for a moment.
  const none = () => 0
  const copy = (tensors, width) => width * sum(tensors, ([shape, , count]) => count * product(shape))
  const fp32Copies = (tensors, width) => (width < 4 ? 20 : 12) * most(tensors.map(([shape]) => product(shape)))
  const muonStep = (tensors, width) => most(tensors.filter(([shape, kind]) => isMatrix(shape, kind))
    .map(([shape]) => (width + 4) * product(shape) + 4 * Math.min(...shape) ** 2))

  const optimizers = {
    adamw_torch_fused: [same(2), none], adamw_torch: [same(2), copy],
    adamw_torch_8bit: [torchao(8, 256), none], adamw_torch_4bit: [torchao(4, 128), none],
    adamw_bnb_8bit: [bitsandbytes(2, 8), none], paged_adamw_8bit: [paged(bitsandbytes(2, 8)), none],
    lion_8bit: [bitsandbytes(1, 8), none], adafactor: [adafactor, fp32Copies], muon: [muon, muonStep],
    sgd: [same(0), none], sgd_momentum: [same(1), none],
  }

  // The polynomials of a job: an object, a text if a library refuses the job, or nothing if it was not traced.
  const variantOf = (model, job) =>
    groups[model.group][`${job.precision} ${job.job}${job.checkpointing ? " checkpointed" : ""}`]

  // The tensors that are on the GPU throughout: bytes in all, and of the gradients of each kind of layer.
  function resident(model, job, counts) {
    const width = widthOf(job), trainedWidth = isAdapted(job) ? 4 : width, [states, step] = optimizers[job.optimizer]
    const found = {weights: 0, adapters: 0, states: 0, gradients: {}, headGradients: 0, pending: 0, step: 0}
    const trained = []
    for (const [kind, tensors] of Object.entries(model.weights)) {
      const inside = kind !== "outside", bytes = ([shape, type, count]) =>
        count * (inside && weightFormats.bytes(job, shape, type) || rounded(width * product(shape)))
      found.weights += counts[kind] * sum(tensors, bytes)
      // In the shape of an adapter, −2 is twice the rank.
      const adapters = isAdapted(job) ? model.adapters[kind].map(([shape, ...rest]) => [shape.map(size => size < 0 ? -size * job.rank : size), ...rest]) : []
      found.adapters += counts[kind] * sum(adapters, ([shape, , count]) => count * rounded(4 * product(shape)))
      const mine = !isAdapted(job) ? tensors : inside ? adapters : []
      if (!isTraining(job)) continue
      const gradient = ([shape, , count]) => count * rounded(trainedWidth * product(shape))
      found.gradients[kind] = sum(mine, gradient)
      found.states += counts[kind] * sum(mine, ([shape, type, count]) => count * rounded(states(shape, type, trainedWidth)))
      trained.push(...mine.map(([shape, type, count]) => [shape, type, count * counts[kind]]))
      if (!inside) {
        found.headGradients = sum(mine.filter(each => each[1] !== "embedding"), gradient)
        if (model.tied) found.pending = rounded(trainedWidth * most(mine.filter(each => each[1] === "embedding").map(each => product(each[0]))))
      }
    }
    if (isTraining(job)) found.step = step(trained, trainedWidth)
    if (job.offload) found.states = found.step = 0
    found.allGradients = sum(Object.entries(found.gradients), ([kind, bytes]) => counts[kind] * bytes)
    return found
  }

  // The layers in order, each with its evaluated polynomials; equal layers share one object.
  function layersOf(model, job, variant, symbols) {
    const [later, decoding] = [job.accumulation > 1, job.job === "decode"]
    return model.layers.flatMap(([kind, window, count]) => {
      const [cache, cached, saved, forward, backward, accumulated] = variant.layers[kind]
      const all = job.job === "prefill" ? symbols.S : decoding ? symbols.C : 0, tokens = window && decoding ? Math.min(all, window) : all
      const own = decoding ? {...symbols, C: tokens} : symbols
      const traced = decoding ? value(cache, own) : all ? symbols.B * model.numbers * symbols.S * computeWidth(job) : 0
      return Array(count).fill({
        kind, saved: value(saved, symbols), cached: Math.max(0, value(cached, own) - traced),
        forward: largest(forward, own) + weightFormats.temporary(job, model.weights[kind], symbols.B * symbols.S, computeWidth(job)),
        backward: largest(later && accumulated.length ? accumulated : backward, symbols),
        cache: tokens * symbols.B * model.numbers * (job.cache === "fp32" ? 4 : 2),
      })
    })
  }

  function* moments(model, job, variant) {
    const symbols = {...model.symbols, B: job.batch, S: job.job === "decode" ? 1 : job.length, C: job.length, r: job.rank}
    symbols.K = Math.min(job.chunk, symbols.S)
    const layers = layersOf(model, job, variant, symbols), counts = {outside: 1}
    for (const {kind} of layers) counts[kind] = (counts[kind] ?? 0) + 1
    const here = resident(model, job, counts), [lossForward, lossBackward] = loss(variant, symbols, job)
    const pending = variant.tied ? 0 : here.pending
    const moment = (phase, saved, gradients, now, what, cache = 0) => ({phase, parts: Object.entries({
      "weights": here.weights, "adapters": here.adapters, "optimizer states": here.states, "batch": rounded(16 * symbols.B * symbols.S),
      "gradients": isTraining(job) && job.accumulation > 1 ? here.allGradients : gradients,
      "KV cache": cache, "saved activations": saved, [what]: now,
    }).filter(([, bytes]) => bytes)})

    const before = value(variant.before, symbols), decoding = job.job === "decode"
    const phase = isTraining(job) ? "forward" : job.job === "evaluate" ? "evaluation" : job.job
    let kept = before, cache = decoding ? sum(layers, each => each.cache) : 0
    for (const layer of layers) {
      yield moment(phase, kept, 0, layer.forward, "layer in progress", cache - (decoding ? layer.cache : 0))
      kept += layer.cached
      cache += decoding ? 0 : layer.cache
    }
    yield moment(phase, kept, 0, lossForward, "logits and loss", cache)
    if (!isTraining(job)) return

    kept = before + sum(layers, each => each.saved)
    yield moment("start of backward", kept, 0, lossBackward, "logits and loss")
    let gradients = here.headGradients
    for (let number = layers.length - 1; number >= 0; number--) {
      const layer = layers[number]
      kept -= layer.saved
      yield moment(number === layers.length - 1 ? "start of backward" : "end of backward", kept, gradients + pending, layer.backward, "layer in progress")
      gradients += here.gradients[layer.kind]
    }
    const [backward, accumulated] = variant.end
    const end = largest(job.accumulation > 1 && accumulated.length ? accumulated : backward, symbols)
    yield moment("end of backward", 0, gradients + 2 * pending, end, "layer in progress")
    yield moment("optimizer step", 0, here.allGradients, here.step, "optimizer temporaries")
  }

  // The largest moment of each phase, the peak in bytes, and the least and the most that the process takes of a card.
  function estimate(name, job) {
    const model = models[name], variant = variantOf(model, job)
    if (isTraining(job) && job.loss !== "whole" && !groups[model.group]["bf16 prefill"]) return {error: "its loss was traced whole"}
    if (!variant || typeof variant === "string") return {error: variant ?? `the family of ${model.title} was not traced with this job and precision`}
    if ((job.job === "prefill" || job.job === "decode") && model.layers.some(([, window]) => window < 0))
      return {error: "some layers keep a state that is no cache of keys and values"}
    const phases = {}
    for (const each of moments(model, job, variant)) {
      each.bytes = sum(each.parts, ([, bytes]) => bytes)
      if (!(each.phase in phases) || each.bytes > phases[each.phase].bytes) phases[each.phase] = each
    }
    return judged(Object.values(phases))
  }

  function judged(phases) {
    const [top, next] = [...phases].sort((one, other) => other.bytes - one.bytes), peak = top.bytes
    return {phases, top, next, peak, low: peak + fixed.low, high: peak + fixed.high + Math.trunc(peak * fixed.share)}
  }

  // Inference is the larger of a prefill of the whole context and a decoding step with it in the cache.
  function estimateTask(name, job) {
    if (job.job !== "inference") return estimate(name, job)
    const cache = job.precision === "fp32" ? "fp32" : "bf16"
    const both = ["prefill", "decode"].map(kind => estimate(name, {...job, job: kind, cache}))
      .filter((each, number) => number === 0 || !each.error)
    return both[0].error ? both[0] : judged(both.flatMap(each => each.phases))
  }

  return {estimate, estimateTask, optimizers: Object.keys(optimizers), isTraining, variantOf}
})()
