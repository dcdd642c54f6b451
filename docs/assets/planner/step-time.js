// The step time of a layout, as in headroom.planner.step_time: compute, exposed communication, bubble, optimizer step, stragglers.
const stepTime = (() => {
  const {constants} = planData, {copies, gpus, shards, sharded, stateShards} = layoutMemory
  const WIDTH = 2, GRADIENT = 4, LOSS_BYTES = 20, OPTIMIZER_BYTES = 30

  const attention = ({hidden, head, heads, key_value_heads: keys}) => 2 * hidden * head * (heads + keys)
  const expertSize = decoder => decoder.mlp_matmuls * decoder.hidden * decoder.intermediate
  const active = decoder => attention(decoder) + decoder.active * expertSize(decoder)
  const parameters = decoder => decoder.layers * (attention(decoder) + decoder.experts * expertSize(decoder)) + 2 * decoder.hidden * decoder.vocabulary

  // Bytes per second and GPU of a ring through so many GPUs, with a distance between them.
  function bandwidth(cluster, members, stride) {
    if (members * stride <= cluster.perNode) return cluster.link
    return Math.min(cluster.link, cluster.network * Math.max(1, Math.min(members, Math.floor(cluster.perNode / stride))))
  }

  function compute(decoder, work, layout, cluster) {
    const tokens = work.length * work.batch / layout.context * work.accumulation / layout.tensor
    const layers = decoder.layers / layout.pipeline, passes = 3 + work.recompute, {bf16} = cluster.rates
    const head = 6 * decoder.hidden * decoder.vocabulary / layout.pipeline
    const matmul = tokens * (2 * passes * layers * active(decoder) / cluster.rates[work.precision] + head / bf16) / constants.matmul
    const scores = passes * layers * 2 * decoder.heads * decoder.head * work.length
    const moved = passes * layers * constants[work.kernels] * WIDTH * decoder.hidden + LOSS_BYTES * decoder.vocabulary / layout.pipeline
    return matmul + tokens * scores / bf16 / constants.attention + tokens * moved / cluster.memory
  }

  // The exposed seconds of tensor and expert parallelism.
  function insideLayers(decoder, work, layout, cluster) {
    const layers = decoder.layers / layout.pipeline * work.accumulation, passes = 2 + work.recompute
    const size = work.length * work.batch / layout.context * WIDTH * decoder.hidden
    const tensor = layers * passes * 4 * size * (1 - 1 / layout.tensor)
    const expert = layers * passes * 2 * size / layout.tensor * decoder.active * (1 - 1 / layout.expert)
    const share = work.overlap ? 1 - constants.tensor_overlap : 1
    return (tensor * share / bandwidth(cluster, layout.tensor, 1) + expert / bandwidth(cluster, layout.expert, layout.tensor)) / constants.link
  }

  function localParameters(decoder, layout) {
    const experts = decoder.layers * decoder.experts * expertSize(decoder)
    return (parameters(decoder) - experts + experts / layout.expert) / layout.tensor / layout.pipeline
  }

  // The seconds of data, context and pipeline parallelism, before any overlap.
  function betweenCopies(decoder, work, layout, cluster) {
    const ring = copies(layout), stride = layout.tensor, mine = localParameters(decoder, layout), groups = []
    if (sharded(layout)) {
      const parts = shards(layout), replicas = Math.floor(ring / parts)
      groups.push([mine * (1 - 1 / parts) * (2 * WIDTH + GRADIENT) * work.accumulation, parts, stride])
      groups.push([2 * mine / parts * GRADIENT * (1 - 1 / replicas), replicas, stride * parts])
    } else groups.push([mine * (1 - 1 / ring) * (GRADIENT + (layout.strategy === "zero1" ? WIDTH : GRADIENT)), ring, stride])
    const layers = decoder.layers / layout.pipeline * work.accumulation, tokens = work.length * work.batch / layout.context
    const keys = 2 * decoder.key_value_heads * decoder.head * WIDTH * tokens / layout.tensor
    groups.push([layers * (3 + work.recompute) * keys * (layout.context - 1), layout.context, layout.tensor])
    const stages = 2 * WIDTH * decoder.hidden * tokens / layout.tensor * work.accumulation
    groups.push([layout.pipeline > 1 ? stages : 0, layout.pipeline, Math.floor(gpus(layout) / layout.pipeline)])
    return groups.reduce((all, [bytes, members, apart]) => all + bytes / bandwidth(cluster, members, apart), 0) / constants.link
  }

  return (decoder, work, layout, cluster) => {
    const computing = compute(decoder, work, layout, cluster), inner = insideLayers(decoder, work, layout, cluster)
    const outer = betweenCopies(decoder, work, layout, cluster)
    const data = Math.max((1 - constants.overlap) * outer, outer - computing)
    const bubble = (layout.pipeline - 1) / work.accumulation * (computing + inner)
    const optimizer = OPTIMIZER_BYTES * localParameters(decoder, layout) / stateShards(layout) / cluster.memory
    const straggling = (computing + inner + data + bubble + optimizer) * constants.straggling * Math.log2(Math.max(1, cluster.gpus / cluster.perNode))
    const seconds = computing + (data + inner) + bubble + optimizer + straggling
    const tokens = work.length * work.batch * work.accumulation * layout.data
    return {compute: computing, communication: data + inner, bubble, optimizer, straggling, seconds, rate: tokens / seconds / gpus(layout)}
  }
})()
