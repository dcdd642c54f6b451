// Draws a box, as headroom.pictures.box_topology does; tests compare the text of both drawings.
const topologyDrawing = (() => {
  const {fill, listed, link, isFast, rank, NEAR} = topologyReader, {groups, slowest, nearCards, pairs, gpuPairs} = topologyReport
  const {ems, rules, patterns} = topologyStyle
  const LEFT = 92, BOX = [58, 24], PITCH = 34, LINE = 14, FEWEST = 3
  const SIZES = {s: 11, code: 11, h1: 13}
  const unique = list => [...new Set(list)]
  const escaped = text => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

  const quoted = text => escaped(text).replaceAll('"', "&quot;").replaceAll("'", "&#x27;")

  function widthOf(text, cls) {
    const names = cls.split(" "), size = SIZES[names.find(name => name in SIZES)] ?? 12
    let total = 0
    for (const character of text) {
      const code = character.codePointAt(0)
      total += code >= 32 && code < 127 ? ems[code - 32] : .7
    }
    return total * size * (names.includes("b") || names.includes("h1") ? 1.12 : 1)
  }
  function wrap(text, width, cls) {
    const lines = []
    for (const word of text.split(" ")) {
      if (lines.length && widthOf(`${lines.at(-1)} ${word}`, cls) <= width) lines[lines.length - 1] += ` ${word}`
      else lines.push(word)
    }
    return lines
  }

  class Canvas {
    constructor(width) {
      Object.assign(this, {width, parts: [], height: 0})
    }
    add(tag, cls, at, inner = "") {
      const named = cls ? ` class="${cls}"` : "", pairs = Object.entries(at).map(([key, value]) => ` ${key}="${value}"`).join("")
      this.parts.push(inner ? `<${tag}${named}${pairs}>${inner}</${tag}>` : `<${tag}${named}${pairs}/>`)
    }
    path(d, cls, fillName = "") {
      this.add("path", fillName ? `p-${fillName} ${cls === "box" ? "" : cls}`.trim() : cls, {d})
    }
    rect(x, y, [w, h], cls = "box", fillName = "") {
      this.path(`M${x} ${y}h${w}v${h}h${-w}z`, cls, fillName)
      this.height = Math.max(this.height, y + h)
    }
    line(start, end, cls = "ln") {
      this.path(`M${start[0]} ${start[1]}L${end[0]} ${end[1]}`, cls)
      this.height = Math.max(this.height, start[1], end[1])
    }
    text([x, y], words, cls = "", anchor = "") {
      this.add("text", `${cls} ${anchor}`.trim(), {x, y}, escaped(words))
      this.height = Math.max(this.height, y + 4)
    }
    paragraph([x, y], words, width, cls) {
      for (const row of wrap(words, width, cls)) {
        this.text([x, y], row, cls)
        y += LINE
      }
    }
  }

  function draw(report, canvas) {
    const box = report.box, middles = {}, nodes = new Map()
    for (const gpu of box.gpus) nodes.set(box.numa[gpu] ?? "", [...nodes.get(box.numa[gpu] ?? "") ?? [], gpu])
    let y = 0, above = null
    for (const [name, gpus] of nodes) {
      if (above) {
        between(canvas, box, above, gpus, y)
        y += 36
      }
      y = node(canvas, report, name, gpus, y, middles)
      above = gpus
    }
    for (const [number, group] of groups(box).entries()) links(canvas, box, group, middles, number)
    if (standsOut(report)) arc(canvas, report.slowest_pair, middles, "rd")
    legend(canvas, report, y + 20)
  }

  function standsOut(report) {
    const found = slowest(report.box)
    return !!found && !!report.slowest_pair && !isFast(found.code) && found.pairs.length < gpuPairs(report.box).length
  }

  function branches(canvas, box, gpus) {
    const found = new Map()
    for (const gpu of gpus) {
      const near = nearCards(box, gpu), other = box.gpus.find(each => each !== gpu && NEAR.includes(link(box, gpu, each))) ?? gpu
      const first = box.gpus.indexOf(other) < box.gpus.indexOf(gpu) ? other : gpu, name = near.length ? near.join(" ") : `- ${first}`
      found.set(name, [...found.get(name) ?? [], gpu])
    }
    return [...found.values()].map(each => {
      const said = words(box, each), rows = said ? wrap(said, canvas.width - LEFT - BOX[0] - 32, "s") : []
      return {gpus: each, words: rows, height: Math.max(each.length * PITCH, rows.length * LINE + 16)}
    })
  }

  function words(box, gpus) {
    const near = nearCards(box, gpus[0])
    if (near.length) return fill("drawing.switch", {codes: listed(unique(gpus.flatMap(gpu => near.map(nic => link(box, gpu, nic) ?? ""))).sort()), cards: near.join(", ")})
    const codes = unique(pairs(gpus).map(pair => link(box, ...pair)).filter(code => code && !isFast(code))).sort()
    return codes.length ? fill("drawing.meet", {codes: listed(codes)}) : ""
  }

  function node(canvas, report, name, gpus, top, middles) {
    const box = report.box, found = branches(canvas, box, gpus), cpus = unique(gpus.filter(gpu => gpu in box.cpus).map(gpu => box.cpus[gpu]))
    const title = name ? fill("drawing.node", {node: name}) : fill("drawing.no-node"), room = canvas.width - LEFT - 16
    const rows = wrap(title + (cpus.length === 1 ? fill("drawing.cpus", {cpus: cpus[0]}) : ""), room, "s")
    const height = 8 + LINE * rows.length + found.reduce((total, each) => total + each.height, 0) + 4
    canvas.rect(LEFT - 12, top, [canvas.width - LEFT + 11, height], "soft")
    canvas.paragraph([LEFT, top + 17], rows.join(" "), room, "s m")
    let y = top + 8 + LINE * rows.length
    const odd = report.findings.filter(each => each.level === "fault").flatMap(each => each.gpus)
    for (const each of found) {
      branch(canvas, each, y, odd, middles)
      y += each.height
    }
    return top + height
  }

  function branch(canvas, {gpus, words: rows}, top, odd, middles) {
    const right = LEFT + BOX[0]
    for (const [number, gpu] of gpus.entries()) {
      const y = top + 6 + number * PITCH
      middles[gpu] = y + BOX[1] / 2
      canvas.rect(LEFT, y, BOX, "box", odd.includes(gpu) ? "bad" : "")
      canvas.text([LEFT + BOX[0] / 2, y + 16], gpu.replace("GPU", "GPU "), "b halo", "mid")
      if (rows.length) canvas.line([right, middles[gpu]], [right + 10, middles[gpu]])
    }
    if (!rows.length) return
    canvas.line([right + 10, middles[gpus[0]] - 6], [right + 10, middles[gpus.at(-1)] + 6], "ln thick")
    for (const [number, row] of rows.entries()) canvas.text([right + 20, top + 22 + number * LINE], row, "s")
  }

  function between(canvas, box, above, below, top) {
    const ends = above.flatMap(one => below.map(other => [one, other]))
    for (const [mine, others] of [[above, below], [below, above]]) {
      const cards = unique(others.flatMap(gpu => nearCards(box, gpu)))
      ends.push(...mine.flatMap(gpu => cards.map(nic => [gpu, nic])))
    }
    const codes = ends.map(pair => link(box, ...pair)).filter(code => code && !isFast(code))
    if (!codes.length) return
    const code = codes.reduce((one, other) => rank(other) < rank(one) ? other : one), slow = rank(code) === 0
    canvas.line([LEFT + 180, top], [LEFT + 180, top + 36], slow ? "rd" : "ln")
    canvas.text([LEFT + 190, top + 22], code, slow ? "s b red" : "s b")
  }

  function links(canvas, box, group, middles, number) {
    if (group.complete && group.codes.length === 1 && group.members.length >= FEWEST) {
      const x = LEFT - 32 - 12 * (number % 4), places = group.members.map(gpu => middles[gpu]).sort((one, other) => one - other)
      canvas.line([x, places[0] - 8], [x, places.at(-1) + 8], "tl thick")
      for (const y of places) canvas.line([x, y], [LEFT, y], "tl")
      return
    }
    for (const pair of pairs(group.members)) {
      const code = link(box, ...pair)
      if (isFast(code)) arc(canvas, pair, middles, code === group.codes.at(-1) && group.codes.length > 1 ? "tl thick" : "tl")
    }
  }

  function arc(canvas, pair, middles, cls) {
    const [first, last] = pair.map(gpu => middles[gpu]).sort((one, other) => one - other), x = Math.max(4, LEFT - 16 - Math.floor((last - first) / 3))
    canvas.path(`M${LEFT} ${first}C${x} ${first} ${x} ${last} ${LEFT} ${last}`, cls)
  }

  function legend(canvas, report, y) {
    const box = report.box, fast = groups(box).flatMap(group => group.codes)
    const key = (cls, said) => {
      if (cls) canvas.line([0, y - 4], [16, y - 4], cls)
      canvas.paragraph([24, y], said, canvas.width - 24, "s m")
      y += LINE * wrap(said, canvas.width - 24, "s").length + 4
    }
    if (fast.length) key("tl", fill("drawing.links", {codes: listed(unique(fast))}) + (unique(fast).length > 1 ? fill("drawing.thick", {code: fast.at(-1)}) : ""))
    if (report.slowest) key(standsOut(report) ? "rd" : "", report.slowest)
    const far = box.nics.filter(nic => !box.gpus.some(gpu => nearCards(box, gpu).includes(nic)))
    if (far.length) key("", fill("drawing.far", {cards: far.join(", ")}))
    key("", fill("drawing.limit"))
  }

  // Both layouts, as text; the page shows the one that fits.
  function layouts(report) {
    return [["narrow", 328], ["wide", 688]].map(([name, width]) => {
      const canvas = new Canvas(width)
      draw(report, canvas)
      return {name, width, height: canvas.height + 4, text: `<svg class="${name}" viewBox="0 0 ${width} ${canvas.height + 4}">${canvas.parts.join("")}</svg>`}
    })
  }
  function svg(report) {
    const drawn = layouts(report), [narrow, wide] = drawn
    const said = [report.summary, report.slowest, ...report.findings.map(each => each.text)].filter(Boolean)
    const ratio = each => `aspect-ratio:${each.width}/${each.height}`
    const sizes = `#picture-topology{display:block;margin:auto;width:100%;max-width:440px;${ratio(narrow)}}#picture-topology .wide{display:none}`
      + `@media(min-width:40em){#picture-topology{max-width:720px;${ratio(wide)}}#picture-topology .wide{display:inline}#picture-topology .narrow{display:none}}`
    return `<svg class="picture" id="picture-topology" role="img" xmlns="http://www.w3.org/2000/svg" aria-labelledby="picture-topology-title" aria-describedby="picture-topology-desc">`
      + `<title id="picture-topology-title">${quoted(fill("drawing.title", {command: report.box.command}))}</title>`
      + `<desc id="picture-topology-desc">${quoted(said.map(each => `${each.replace(/\.+$/, "")}.`).join(" "))}</desc>`
      + `<style>${rules}${sizes}</style><defs>${patterns}</defs>${drawn.map(each => each.text).join("")}</svg>`
  }
  return {layouts, svg}
})()
