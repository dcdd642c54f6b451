// The report on a box, as headroom.topology.report makes it: groups of GPUs, the slowest pair, findings, limits, advice.
const topologyReport = (() => {
  const {fill, listed, link, isFast, rank, kind, NEAR, P2P_CODES} = topologyReader
  const STRATEGIES = ["DDP", "FSDP", "TP", "PP"], FEWEST = 3
  const pairs = names => names.flatMap((one, place) => names.slice(place + 1).map(other => [one, other]))
  const gpuPairs = box => pairs(box.gpus).filter(pair => box.links.has(pair.join(" ")))
  const fastName = box => box.command.startsWith("rocm") ? "XGMI" : "NVLink"
  const unique = list => [...new Set(list)]

  function groups(box) {
    let left = [...box.gpus]
    const found = []
    while (left.length) {
      const members = [left.shift()]
      for (const one of members) {
        const near = left.filter(other => isFast(link(box, one, other)))
        members.push(...near)
        left = left.filter(other => !near.includes(other))
      }
      if (members.length < 2) continue
      const names = box.gpus.filter(gpu => members.includes(gpu)), links = pairs(names).map(pair => link(box, ...pair))
      found.push({members: names, complete: links.every(isFast), codes: unique(links.filter(isFast)).sort((one, other) => rank(one) - rank(other))})
    }
    return found
  }

  function shape(box) {
    if (box.gpus.length === 1) return "one"
    if (!box.links.size) return "unknown"
    if (box.command.endsWith("-mp")) return "view"
    const [first] = groups(box)
    if (!first) return "pcie"
    return first.members.length < box.gpus.length ? "groups" : first.complete ? "full" : "mesh"
  }

  function slowest(box) {
    const found = gpuPairs(box)
    if (!found.length) return null
    const cost = pair => [rank(box.links.get(pair.join(" "))), -(box.weights.get(pair.join(" ")) ?? 0)]
    const compare = (one, other) => one[0] - other[0] || one[1] - other[1]
    const least = found.map(cost).reduce((one, other) => compare(other, one) < 0 ? other : one)
    const slow = found.filter(pair => !compare(cost(pair), least))
    return {code: box.links.get(slow[0].join(" ")), pairs: slow}
  }

  const nearCards = (box, gpu) => box.nics.filter(nic => NEAR.includes(link(box, gpu, nic)))
  const finding = (level, code, gpus = [], values = {}) => ({level, code, text: fill(`finding.${code}`, values), gpus})

  function findings(box) {
    const found = [...ofText(box), ...ofLinks(box), ...ofCards(box), ...ofNodes(box), ...ofPeers(box)]
    return ["fault", "warning", "note"].flatMap(level => found.filter(each => each.level === level))
  }

  function* ofText(box) {
    const fused = box.notes.filter(each => each.key === "fused")
    if (fused.length) yield finding("warning", "fused", [], {...fused[0].values, cells: fused.length})
    for (const {key, values} of box.notes)
      if (key !== "fused") yield finding(["no-affinity", "maybe-view"].includes(key) ? "note" : "warning", key, [], values)
    if (box.command.endsWith("-mp")) yield finding("warning", "pcie-view")
  }

  function* ofLinks(box) {
    if (!["full", "mesh", "groups"].includes(shape(box))) return
    const found = groups(box), linked = found.flatMap(group => group.members), alone = box.gpus.filter(gpu => !linked.includes(gpu)), name = fastName(box)
    if (alone.length) {
      const whole = found.length === 1 && found[0].complete && linked.length >= FEWEST && linked.length > alone.length
      yield finding(whole ? "fault" : "note", whole ? "gpu-without-link" : "gpu-outside-groups", alone, {gpus: listed(alone), others: listed(linked), link: name})
    }
    for (const group of found) yield* within(box, group, name)
    const weights = unique([...box.weights].filter(([key]) => box.links.get(key) === "XGMI").map(([, weight]) => weight)).sort((one, other) => one - other)
    if (weights.length > 1) yield finding("note", "unequal-weights", [], {weights: weights.join(", ")})
  }

  function* within(box, group, name) {
    const all = pairs(group.members), named = listed(group.members)
    if (!group.complete) {
      yield finding("warning", "mesh", [], {gpus_named: named, count: all.filter(pair => !isFast(link(box, ...pair))).length, pairs: all.length, link: name})
    } else if (group.codes.length > 1) {
      const odd = oddOne(box, group), codes = listed(group.codes)
      yield odd ? finding("fault", "fewer-links", [odd], {gpu: odd, codes}) : finding("note", "unequal-links", [], {gpus_named: named, codes})
    }
  }

  function oddOne(box, group) {
    if (group.members.length <= FEWEST) return undefined
    return group.members.find(gpu => {
      const others = group.members.filter(each => each !== gpu), codes = unique(pairs(others).map(pair => link(box, ...pair)))
      return codes.length === 1 && codes[0] === group.codes.at(-1) && !others.some(other => codes.includes(link(box, gpu, other)))
    })
  }

  function* ofCards(box) {
    if (!box.nics.length || !box.links.size) return
    const codes = unique(box.gpus.flatMap(gpu => box.nics.map(nic => link(box, gpu, nic))))
    const between = unique(pairs(box.nics).map(pair => link(box, ...pair))), far = box.gpus.filter(gpu => !nearCards(box, gpu).length)
    if (codes.join() === "PHB" && between.length === 1 && between[0] === "PHB") yield finding("warning", "flat", [], {count: box.nics.length})
    else if (far.length === box.gpus.length) yield finding(shape(box) === "full" ? "warning" : "note", "far-cards", [], {codes: listed(codes.filter(Boolean).sort())})
    else if (far.length) yield finding("note", "gpus-without-card", [], {gpus: listed(far)})
  }

  function* ofNodes(box) {
    const known = box.gpus.filter(gpu => gpu in box.numa).map(gpu => box.numa[gpu]), all = gpuPairs(box)
    if (known.length > FEWEST && unique(known).length === box.gpus.length && all.length && all.every(pair => box.links.get(pair.join(" ")) === "SYS"))
      yield finding("note", "node-per-gpu", [], {count: known.length})
    if (box.links.size && !known.length && !box.notes.some(each => ["no-affinity", "cut-nodes"].includes(each.key))) yield finding("note", "no-nodes")
  }

  function* ofPeers(box) {
    for (const {capability, status} of box.peers) {
      const what = `topo -p2p ${capability}`.trim(), all = [...status]
      for (const code of P2P_CODES.slice(1)) {
        const refused = all.filter(([, each]) => each === code)
        if (!refused.length) continue
        const [one, other] = refused[0][0].split(" ")
        yield finding("warning", "peer-refused", [], {what, code, means: fill(`p2p.${code}`), one, other, count: refused.length, total: all.length})
      }
      if (all.length && all.every(([, each]) => each === "OK")) yield finding("note", "peer-granted", [], {what})
    }
  }

  function report(box) {
    const slow = slowest(box), shown = shape(box) === "view" ? null : slow, found = groups(box), rocm = box.command.startsWith("rocm"), count = box.nics.length
    const values = {
      n: box.gpus.length, link: fastName(box), joins: rocm ? "XGMI" : `NVLink (${listed(unique(found.flatMap(group => group.codes)))})`,
      largest: Math.max(1, ...found.map(group => group.members.length)), groups: found.map(group => listed(group.members)).join("; "), slow: slow?.code ?? "",
    }
    const used = unique([...box.links.values()].map(kind))
    const limits = box.gpus.length === 1 && !count ? [] : [rocm ? "quality-amd" : "quality", rocm ? "peer-amd" : "peer", "outside"]
    return {
      box,
      summary: fill(`summary.${shape(box)}`, {...values, cards: count ? fill(count === 1 ? "cards.one" : "cards.some", {count}) : ""}),
      slowest: shown ? slowestText(box, shown) : "", slowest_pair: shown?.pairs[0] ?? null, findings: findings(box),
      codes: ["NV#", "XGMI", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC", "PCIE"].filter(code => used.includes(code)).map(code => [code, fill(`code.${code}`)]),
      limits: limits.map(name => fill(`limit.${name}`)),
      advice: Object.fromEntries(STRATEGIES.map(name => [name, fill(`advice.${shape(box)}.${name}`, values)])),
    }
  }

  function slowestText(box, {code, pairs: slow}) {
    const total = gpuPairs(box).length, [one, other] = slow[0]
    return fill(slow.length < total ? "slowest.some" : total > 1 ? "slowest.all" : "slowest.one", {code, means: fill(`code.${kind(code)}`), one, other, count: slow.length, total})
  }

  // The report as JSON values, the same as Python's.
  function values({box, ...said}) {
    const rows = map => [...map].map(([key, value]) => [...key.split(" "), value])
    return {
      command: box.command, gpus: box.gpus, nics: box.nics.map(nic => [nic, box.names[nic] ?? ""]), links: rows(box.links), cpus: box.cpus, numa: box.numa,
      hops: rows(box.hops), weights: rows(box.weights), peers: box.peers.map(({capability, status}) => ({capability, status: rows(status)})), ...said,
    }
  }
  return {report, values, groups, slowest, nearCards, pairs, gpuPairs}
})()
