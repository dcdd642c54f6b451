// Shared by the estimates for one GPU and for a cluster: jobs, quantized weights, polynomials, the loss.
const memoryJobs = (() => {
  const TRAINING = ["full", "lora", "qlora"]
  const isTraining = job => TRAINING.includes(job.job)
  const isAdapted = job => job.job === "lora" || job.job === "qlora"
  const widthOf = job => job.precision === "bf16" || job.precision === "mixed" ? 2 : 4
  const computeWidth = job => job.precision === "fp32" ? 4 : 2
  return {isTraining, isAdapted, widthOf, computeWidth}
})()

// Quantized linear weights, as headroom.memory.weight_formats: their bytes.
const weightFormats = (() => {
  const {ceil, max} = Math
  const total = (...sizes) => sizes.reduce((all, size) => all + ceil(size / 512) * 512, 0)
  const linear = {
    nf4: (rows, cols) => total(ceil(rows * cols / 2), 4 * ceil(rows * cols / 64), 64),
    "nf4-double": (rows, cols, scales = ceil(rows * cols / 64)) => total(ceil(rows * cols / 2), scales, 4 * ceil(scales / 256), 64, 1024, 4),
    int4: (rows, cols, groups = rows * ceil(cols / 128)) => total(ceil(rows * cols / 2), 2 * groups, ceil(groups / 2)),
    int8: (rows, cols) => total(rows * cols, 4 * rows),
    fp8: (rows, cols) => total(rows * cols, 4 * ceil(rows / 128) * ceil(cols / 128)),
  }
  const of = job => job.job === "qlora" ? "nf4-double" : memoryJobs.isTraining(job) || job.quantization === "auto" ? null : job.quantization
  const bytes = (job, shape, kind) => {
    const name = of(job)
    return name && (kind === "linear" || kind === "expert" && ["int4", "fp8"].includes(name)) && shape.slice(0, -2).reduce((all, size) => all * size, linear[name](...shape.slice(-2)))
  }
  // The most temporary bytes of one layer in inference.
  const temporary = (job, tensors, tokens, width) => {
    const name = of(job), four = /4/.test(name)
    if (!name || memoryJobs.isTraining(job) || four && tokens < 2) return 0
    return max(0, ...tensors.filter(each => each[1] === "linear").map(([[rows, cols]]) => four ? width * rows * cols
      : tokens * (name === "fp8" ? cols : max(cols + 4 * rows, 3 * cols))))
  }
  return {of, bytes, temporary}
})()

const memoryFormulas = polys => {
  const {isTraining, isAdapted, widthOf, computeWidth} = memoryJobs
  const sum = (list, of = each => each) => list.reduce((total, each) => total + of(each), 0)
  const product = shape => shape.reduce((all, size) => all * size, 1)
  const most = list => list.length ? list.reduce((found, each) => each > found ? each : found) : 0
  const rounded = bytes => Math.ceil(bytes / 512) * 512
  const parsed = polys.map(text => text ? text.split("+").map(term => {
    const [bytes, ...names] = term.split(".")
    return [Number(bytes), names]
  }) : [])
  const evaluate = (terms, symbols) => sum(terms, ([bytes, names]) => names.reduce((all, name) => all * symbols[name], bytes))
  const value = (number, symbols) => evaluate(parsed[number], symbols)
  const largest = (numbers, symbols) => most(numbers.map(number => value(number, symbols)))

  // The bytes of the LM head and the loss in the forward and the backward pass.
  function loss(variant, symbols, job) {
    const later = job.accumulation > 1
    const passes = ([forward, backward, accumulated]) => [forward, later && accumulated.length ? accumulated : backward]
    const whole = passes(job.loss === "chunked" && isTraining(job) && variant.chunked || variant.head)
    if (!isTraining(job) || job.loss === "whole" || job.loss === "chunked" && variant.chunked) return whole.map(each => largest(each, symbols))
    const without = numbers => most(numbers.map(number => evaluate(parsed[number].filter(([, names]) => !names.includes("V")), symbols)))
    const logits = (numbers, tokens) => most(numbers.map(number =>
      evaluate(parsed[number].filter(([, names]) => names.includes("V") && names.includes("S")), {...symbols, B: 1, S: tokens})))
    const weight = symbols.h * symbols.V, cast = job.precision === "autocast" ? 2 * weight : 0
    const [forward, backward] = whole
    if (job.loss === "chunked") {
      const tokens = symbols.B * Math.min(job.chunk, symbols.S), gradient = isAdapted(job) ? 0 : widthOf(job) * weight
      return [without(forward) + cast + logits(forward, tokens),
        without(backward) + cast + Math.max(logits(backward, tokens) + gradient, 3 * gradient)]
    }
    // Liger's fused loss computes both gradients in the forward pass, in chunks of a power of two of tokens.
    const tokens = symbols.B * symbols.S, width = computeWidth(job), part = Math.ceil(tokens / Math.ceil(symbols.V / symbols.h))
    let chunk = 1
    while (chunk < part) chunk *= 2
    chunk = Math.min(tokens, chunk)
    const kept = tokens * symbols.h * width + (isAdapted(job) ? 0 : widthOf(job) * weight)
    const temporary = isAdapted(job) ? 0 : {bf16: 6, mixed: 6, autocast: 0, fp32: 4}[job.precision] * weight
    return [without(forward) + kept + temporary + cast + chunk * symbols.V * width, without(backward) + kept]
  }

  return {sum, product, most, rounded, parsed, evaluate, value, largest, loss}
}
