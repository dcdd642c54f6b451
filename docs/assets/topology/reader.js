// Reads nvidia-smi topo and rocm-smi --showtopo, as headroom.topology does; tests compare both on every text.
const topologyReader = (() => {
  class Refusal extends Error {
    constructor(key, line, column, values = {}) {
      super(key)
      const short = value => typeof value === "string" && [...value].length > 80 ? `${[...value].slice(0, 80).join("")}…` : value
      Object.assign(this, {key, line, column, values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, short(value)])), seen: []})
    }
  }

  const fill = (key, values = {}) => topologySentences[key].replace(/\{(\w+)\}/g, (_, name) => {
    if (!(name in values)) throw new RangeError(`${key} has no ${name}`)
    return String(values[name])
  })
  const number = name => Number(/^GPU([0-9]+)$/.exec(name)?.[1] ?? NaN)
  function listed(names) {
    const runs = []
    for (const name of names) {
      const run = runs.at(-1)
      if (run && number(name) === number(run.at(-1)) + 1) run.push(name)
      else runs.push([name])
    }
    const parts = runs.flatMap(run => run.length > 2 ? [`${run[0]} to ${run.at(-1)}`] : run)
    return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
  }

  // Codes.
  const P2P_CODES = ["OK", "NS", "CNS", "GNS", "TNS", "DR", "U"], NEAR = ["PIX", "PXB"]
  const LINK = "(?:SYS|SOC|NODE|PHB|PXB|PIX|NV[1-9][0-9]{0,2}|X)", STATE = "(?:OK|CNS|GNS|TNS|NS|DR|U|X)"
  const LINKS = new RegExp(`^${LINK}+$`), STATES = new RegExp(`^${STATE}+$`)
  const splitCodes = cell => LINKS.test(cell) ? cell.match(new RegExp(LINK, "g")) : STATES.test(cell) ? cell.match(new RegExp(STATE, "g")) : []
  const isFast = code => !!code && (code.startsWith("NV") || code === "XGMI")
  const RANKS = {SOC: 0, SYS: 0, PCIE: 0, NODE: 1, PHB: 2, PXB: 3, PIX: 4, XGMI: 10}
  const rank = code => code.startsWith("NV") ? 10 + Number(code.slice(2)) : RANKS[code]
  const kind = code => code.startsWith("NV") ? "NV#" : code

  // Lines and cells; columns count characters from 1.
  const MOST_CHARACTERS = 200000, MOST_DEVICES = 128
  const ESCAPES = /\x1b\[[0-9;]*[A-Za-z]|\[[0-9;]{1,4}m/g
  const size = text => [...text].length
  // Without a regular expression, whose time would grow with the square of a long run of blanks.
  function trimEnd(text, blanks) {
    let end = text.length
    while (end && blanks.includes(text[end - 1])) end--
    return text.slice(0, end)
  }
  const trimStart = (text, blanks) => {
    let start = 0
    while (start < text.length && blanks.includes(text[start])) start++
    return text.slice(start)
  }
  const trim = (text, blanks = " \t") => trimStart(trimEnd(text, blanks), blanks), strip = text => trim(text, " ")
  class Line {
    constructor(number, text) {
      Object.assign(this, {number, text})
    }
    get end() { return size(trimEnd(this.text, " \t")) + 1 }
    words() {
      return [...this.text.matchAll(/[^ \t]+/g)].map(match => ({text: match[0], column: size(this.text.slice(0, match.index)) + 1}))
    }
    get tabbed() {
      const pieces = this.text.split("\t").map(strip)
      return pieces.length > 1 && !!pieces[0] && !pieces.some(each => each.includes(" "))
    }
    fields() {
      if (!this.tabbed) return this.words()
      const found = []
      let column = 1
      for (const piece of this.text.split("\t")) {
        const text = strip(piece)
        found.push({text, column: column + (text ? piece.length - trimStart(piece, " ").length : 0)})
        column += size(piece) + 1
      }
      return found
    }
  }
  function readLines(text) {
    if (size(text) > MOST_CHARACTERS) throw new Refusal("too-long", 1, 1, {most: MOST_CHARACTERS})
    const plain = text.replace(/^\ufeff/, "").replace(/\r\n|\r/g, "\n").replaceAll("\u00a0", " ").replace(ESCAPES, match => " ".repeat(match.length))
    return plain.split("\n").map((each, place) => new Line(place + 1, each))
  }

  // The header.
  const NAMED = "(?:(?:GPU|NIC)[0-9]{1,3}|mlx[0-9]_[0-9]{1,3})"
  const JOINED = new RegExp(`^${NAMED}+$`), ONE = new RegExp(`^${NAMED}$`), CARD = /^[a-z][A-Za-z0-9_]*[0-9]$/
  const GPU = /^GPU[0-9]{1,3}$/, AFFINITY = /CPU[ \t]+Affinity|NUMA[ \t]+Affinity|GPU[ \t]+NUMA[ \t]+ID/
  const TAIL = /^(CPU[ \t]+Affinity)?(?:[ \t]*(NUMA[ \t]+Affinity))?(?:[ \t]*(GPU[ \t]+NUMA[ \t]+ID))?[ \t]*$/
  const KINDS = ["cpu", "numa", "gpu numa"]
  const isGpu = name => GPU.test(name), isNamed = name => ONE.test(name), isDevice = name => JOINED.test(name) || CARD.test(name)
  const namesOf = cell => JOINED.test(cell.text) ? cell.text.match(new RegExp(NAMED, "g")) : [cell.text]

  function findHeader(line) {
    const match = AFFINITY.exec(line.text)
    const head = new Line(line.number, match ? line.text.slice(0, match.index) : line.text).words()
    const tail = match && TAIL.exec(line.text.slice(match.index))
    const kinds = tail ? KINDS.filter((_, place) => tail[place + 1]) : null
    if (match && !head.length) return kinds && match.index ? {line, devices: [], affinities: kinds, fused: []} : null
    let start = head.findIndex(cell => JOINED.test(cell.text) && cell.text.startsWith("GPU"))
    if (start < 0) start = head.length
    if (start && !(line.text.includes("topo") && start < head.length)) return null
    const cells = head.slice(start), names = cells.flatMap(namesOf)
    const first = cells.slice(0, 2).flatMap(namesOf)
    if (first.length > 1 ? !isDevice(first[1]) : !(first.length && (match || " \t".includes(line.text[0])))) return null
    for (const cell of cells) if (!isDevice(cell.text)) throw new Refusal("header", line.number, cell.column)
    if (match && !kinds) throw new Refusal("header", line.number, size(line.text.slice(0, match.index)) + 1)
    if (names.length > MOST_DEVICES) throw new Refusal("too-many", line.number, cells[0].column, {most: MOST_DEVICES})
    const seen = []
    for (const cell of cells) for (const name of namesOf(cell)) {
      if (seen.includes(name) || isGpu(name) && seen.length && !isGpu(seen.at(-1))) throw new Refusal("device-twice", line.number, cell.column, {name})
      seen.push(name)
    }
    return {line, devices: names, affinities: kinds ?? [], fused: cells.filter(cell => namesOf(cell).length > 1)}
  }

  // What complete rows show in a text that is refused.
  function seenInRows(lines) {
    const rows = []
    for (const line of lines) {
      const words = line.words().map(cell => cell.text)
      if (!words.length || words[0] !== `GPU${rows.length}`) break
      rows.push(words.slice(1).flatMap(splitCodes))
    }
    const count = rows.length, square = rows.map(codes => codes.slice(0, count)), places = square.map((_, place) => place)
    if (square.some((codes, place) => codes.length < count || codes[place] !== "X" || codes.filter(code => code === "X").length > 1)) return []
    const linked = places.filter(place => square[place].some(isFast)), alone = places.filter(place => !linked.includes(place))
    const whole = linked.every(one => linked.every(other => one === other || isFast(square[one][other])))
    if (linked.length < 3 || !whole) return []
    const others = listed(linked.map(place => `GPU${place}`))
    return alone.map(place => fill("seen.no-nvlink", {name: `GPU${place}`, others}))
  }

  // The rows of a matrix.
  const CPUS = /^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$/, EMPTY = ["", "N/A"]
  const note = (key, values) => ({key, values})
  const fused = (line, cell, as) => note("fused", {line: line.number, column: cell.column, cell: cell.text, as})
  const cutCards = (row, name) => note("cut-cards", {line: row.number, column: row.end, name})
  const pairKey = (one, other) => `${one} ${other}`

  function readMatrix(lines, start, header) {
    while (start < lines.length && !lines[start].words().length) start++
    let after = start
    const isRow = words => words.length && (header.devices.includes(words[0].text) || isNamed(words[0].text))
    while (after < lines.length && isRow(lines[after].words())) after++
    const rows = lines.slice(start, after)
    if (!rows.length) throw new Refusal("no-rows", (lines[start] ?? header.line).number, 1)
    const found = {devices: header.devices, codes: new Map(), places: new Map(), cpus: {}, numa: {}, notes: [], after, peer: false}
    if (!header.devices.length) found.devices = tableNames(rows)
    for (const cell of header.fused) found.notes.push(fused(header.line, cell, cell.text.match(/[A-Za-z]+[0-9]?_?[0-9]+/g).join(" and ")))
    try {
      rows.every((row, place) => readRow(found, header, row, place, place === rows.length - 1))
      finish(found, header, rows)
    } catch (error) {
      if (error instanceof Refusal) error.seen = seenInRows(rows)
      throw error
    }
    return found
  }

  function tableNames(rows) {
    const names = []
    for (const row of rows) {
      const name = row.words()[0]
      if (names.includes(name.text)) throw new Refusal("device-twice", row.number, name.column, {name: name.text})
      names.push(name.text)
    }
    return names
  }

  function readRow(found, header, row, place, last) {
    const [name, ...cells] = row.fields(), expected = found.devices[place] ?? ""
    if (name.text !== expected) throw new Refusal(expected ? "row-order" : "row-extra", row.number, name.column, {name: name.text, expected})
    if (!header.devices.length) {
      affinities(found, header, row, name.text, cells)
      return true
    }
    const [codes, rest] = rowCodes(found, row, name.text, cells, last && !isGpu(name.text))
    if (codes.length < found.devices.length) {
      found.notes.push(cutCards(row, found.devices[place]))
      return false
    }
    addCodes(found, name.text, codes, row)
    const extra = rest.find(each => each.text)
    if (isGpu(name.text)) affinities(found, header, row, name.text, rest)
    else if (extra) throw new Refusal("cells-extra", row.number, extra.column, {name: name.text, cell: extra.text})
    return true
  }

  function rowCodes(found, row, name, cells, cut) {
    const wanted = found.devices.length, codes = []
    for (const [place, cell] of cells.entries()) {
      if (codes.length === wanted) return [codes, cells.slice(place)]
      const split = splitCodes(cell.text), ends = place === cells.length - 1 || !cells.slice(place).some(each => each.text)
      if (!split.length && ends && cut) return [codes, []]
      if (!split.length || codes.length + split.length > wanted) {
        if (!cell.text || EMPTY.includes(cell.text) || CPUS.test(cell.text)) throw new Refusal("short", row.number, cell.column, {name, read: codes.length, wanted})
        throw new Refusal("code", row.number, cell.column, {name, cell: cell.text})
      }
      if (split.length > 1) found.notes.push(fused(row, cell, split.join(" and ")))
      for (const code of split) codes.push([code, cell.column])
    }
    if (codes.length < wanted && !cut) throw new Refusal("cut", row.number, row.end, {name, read: codes.length, wanted})
    return [codes, []]
  }

  function addCodes(found, name, codes, row) {
    for (const [place, other] of found.devices.entries()) {
      const [code, column] = codes[place]
      if ((code === "X") !== (other === name)) throw new Refusal("diagonal", row.number, column, {name, other, code})
      if (code === "X") continue
      const isPeer = P2P_CODES.includes(code)
      if (!found.codes.size) found.peer = isPeer
      if (found.peer !== isPeer) throw new Refusal("mixed", row.number, column, {code})
      const before = found.codes.get(pairKey(other, name))
      if (before !== undefined && before !== code && !found.peer)
        throw new Refusal("asymmetric", row.number, column, {one: name, other, code, before, row: found.places.get(pairKey(other, name))})
      found.codes.set(pairKey(name, other), code)
      found.places.set(pairKey(name, other), row.number)
    }
  }

  function affinities(found, header, row, name, rest) {
    const kinds = header.affinities
    if (row.tabbed) rest = withoutDoubleTab(rest, kinds.length)
    if (rest.length > kinds.length) {
      const extra = rest.find(cell => splitCodes(cell.text).length) ?? rest[kinds.length]
      throw new Refusal("cells-extra", row.number, extra.column, {name, cell: extra.text})
    }
    if (rest.length < kinds.length) {
      if (!found.notes.some(each => each.key === "no-affinity")) found.notes.push(note("no-affinity", {line: row.number, name}))
      return
    }
    for (const [place, kind] of kinds.entries()) {
      const cell = rest[place]
      if (EMPTY.includes(cell.text)) continue
      if (!CPUS.test(cell.text)) throw new Refusal("affinity", row.number, cell.column, {name, cell: cell.text})
      if (kind !== "gpu numa") (kind === "cpu" ? found.cpus : found.numa)[name] = cell.text
    }
  }

  function withoutDoubleTab(rest, wanted) {
    rest = [...rest]
    while (rest.length > wanted && !rest.at(-1).text) rest.pop()
    if (rest.length === wanted + 1 && wanted > 1 && !rest.at(-2).text) rest.splice(-2, 1)
    return rest
  }

  function finish(found, header, rows) {
    if (!header.devices.length || found.devices.length === 1) return
    const read = new Set([...found.codes.keys()].map(key => key.split(" ")[0])), last = rows.at(-1)
    for (const name of found.devices) if (isGpu(name) && !read.has(name)) throw new Refusal("rows-missing", last.number, last.end, {name})
    const missing = found.devices.filter(name => !read.has(name))
    if (missing.length && !found.notes.some(each => each.key === "cut-cards")) found.notes.push(cutCards(last, missing[0]))
    if (found.peer) return
    const kept = new Map()
    for (const [place, one] of found.devices.entries()) for (const other of found.devices.slice(place + 1)) {
      const code = found.codes.get(pairKey(other, one)) ?? found.codes.get(pairKey(one, other))
      if (code) kept.set(pairKey(one, other), code)
    }
    found.codes = kept
  }

  // nvidia-smi.
  const COMMAND = /topo[ \t]+(-mp|-m|-p2p)(?:[ \t]+([a-z]+))?(?![a-z0-9])/, LEGEND = /^[ \t]*(NIC[0-9]{1,3}):[ \t]*([A-Za-z0-9_.-]+)[ \t]*$/
  const empty = command => ({command, gpus: [], nics: [], links: new Map(), cpus: {}, numa: {}, names: {}, peers: [], hops: new Map(), weights: new Map(), notes: []})

  function readNvidia(lines) {
    const found = empty("")
    let place = 0, command = ["", ""]
    while (place < lines.length) {
      const line = lines[place], match = COMMAND.exec(line.text)
      if (match) command = [match[1], match[2] ?? ""]
      const header = findHeader(line)
      if (!header) {
        refuseRow(lines, place)
        const legend = LEGEND.exec(line.text)
        if (legend && found.nics.includes(legend[1])) found.names[legend[1]] = legend[2]
        place++
        continue
      }
      const matrix = readMatrix(lines, place + 1, header), gpus = matrix.devices.filter(isGpu)
      if (!matrix.peer && !["", "nvidia-smi topo -p2p"].includes(found.command)) throw new Refusal("second", line.number, 1)
      if (found.gpus.length && gpus.join() !== found.gpus.join()) throw new Refusal("other-gpus", line.number, 1)
      found.gpus = gpus
      if (matrix.peer) {
        found.command ||= "nvidia-smi topo -p2p"
        found.peers.push({capability: command[1], status: matrix.codes})
        found.notes.push(...matrix.notes.filter(each => each.key === "fused"))
      } else {
        found.command = !header.devices.length ? "nvidia-smi topo" : command[0] === "-mp" ? "nvidia-smi topo -mp" : "nvidia-smi topo -m"
        found.nics = matrix.devices.slice(gpus.length)
        Object.assign(found, {links: matrix.codes, cpus: matrix.cpus, numa: matrix.numa})
        found.notes.push(...matrix.notes)
        if (!command[0] && gpus.length > 1 && matrix.codes.size && ![...matrix.codes.values()].some(isFast)) found.notes.push(note("maybe-view", {}))
      }
      place = matrix.after
      command = ["", ""]
    }
    return found.gpus.length ? found : null
  }

  function refuseRow(lines, place) {
    const words = lines[place].words()
    if (words.length < 2 || !isDevice(words[0].text)) return
    const codes = splitCodes(words[1].text)
    if (!codes.length || P2P_CODES.includes(codes[0])) return
    const error = new Refusal("no-header", lines[place].number, words[0].column, {name: words[0].text})
    error.seen = seenInRows(lines.slice(place))
    throw error
  }

  // rocm-smi.
  const TITLE = /^[ \t]*=+ ?([^=]+?) ?=+[ \t]*$/, TYPES = ["XGMI", "PCIE"]
  const BLOCKS = {"Weight between two GPUs": "weights", "Hops between two GPUs": "hops", "Link Type between two GPUs": "links"}
  const NODE = /^GPU ?\[?([0-9]{1,3})\]?[ \t]*: \(Topology\) Numa (Node|Affinity): (-?[0-9]{1,4})[ \t]*$/
  const isRocm = lines => lines.some(line => line.text.includes("between two GPUs") || line.text.includes("(Topology) Numa"))

  function readRocm(lines) {
    const found = empty("rocm-smi --showtopo"), done = []
    for (const [place, line] of lines.entries()) {
      const title = trim(TITLE.exec(line.text)?.[1] ?? "")
      if (!Object.hasOwn(BLOCKS, title)) continue
      if (done.includes(title)) throw new Refusal("second", line.number, 1)
      done.push(title)
      readBlock(found, BLOCKS[title], lines, place + 1)
    }
    readNodes(found, lines)
    return found.gpus.length ? found : null
  }

  function readBlock(found, kind, lines, place) {
    while (place < lines.length && !lines[place].words().length) place++
    if (place === lines.length) throw new Refusal("no-rows", lines.at(-1).number, 1)
    const header = lines[place], gpus = header.words().map(cell => cell.text)
    for (const cell of header.words())
      if (!isGpu(cell.text) || gpus.filter(name => name === cell.text).length > 1) throw new Refusal("header", header.number, cell.column)
    if (gpus.length > MOST_DEVICES) throw new Refusal("too-many", header.number, 1, {most: MOST_DEVICES})
    if (found.gpus.length && gpus.join() !== found.gpus.join()) throw new Refusal("other-gpus", header.number, 1)
    found.gpus = gpus
    const cells = new Map()
    for (const [at, name] of gpus.entries()) readRocmRow(cells, gpus, name, lines[place + 1 + at], lines[Math.min(place + at, lines.length - 1)], kind)
    const pairs = new Map()
    for (const [at, one] of gpus.entries()) for (const other of gpus.slice(at + 1)) {
      const cell = cells.get(pairKey(one, other))
      pairs.set(pairKey(one, other), kind === "links" ? cell : Number(cell))
    }
    found[kind] = pairs
  }

  function readRocmRow(cells, gpus, name, row, before, kind) {
    const words = row?.words() ?? []
    if (!words.length) throw new Refusal("rows-missing", before.number, before.end, {name})
    if (words[0].text !== name) throw new Refusal("row-order", row.number, words[0].column, {name: words[0].text, expected: name})
    for (const [place, other] of gpus.slice(0, words.length - 1).entries()) {
      const cell = words[place + 1], same = other === name
      const legal = same ? cell.text === "0" : kind === "links" ? TYPES.includes(cell.text) : /^[0-9]{1,6}$/.test(cell.text)
      if (!legal) throw new Refusal("code", row.number, cell.column, {name, cell: cell.text})
      if (same) continue
      const earlier = cells.get(pairKey(other, name))
      if (earlier !== undefined && earlier !== cell.text)
        throw new Refusal("asymmetric", row.number, cell.column, {row: row.number - gpus.indexOf(name) + gpus.indexOf(other), one: name, other, code: cell.text, before: earlier})
      cells.set(pairKey(name, other), cell.text)
    }
    if (words.length - 1 < gpus.length) throw new Refusal("cut", row.number, row.end, {name, read: words.length - 1, wanted: gpus.length})
    const extra = words[gpus.length + 1]
    if (extra) throw new Refusal("cells-extra", row.number, extra.column, {name, cell: extra.text})
  }

  function readNodes(found, lines) {
    const nodes = new Map()
    for (const line of lines) {
      if (!line.text.includes("(Topology)")) continue
      const match = NODE.exec(trimStart(line.text, " \t"))
      if (!match) {
        found.notes.push(note("cut-nodes", {line: line.number, column: line.end}))
        break
      }
      const name = `GPU${Number(match[1])}`
      if (match[2] !== "Node") continue
      if (nodes.has(name) || found.gpus.length && !found.gpus.includes(name)) throw new Refusal("device-twice", line.number, 1, {name})
      nodes.set(name, match[3])
    }
    if (!found.gpus.length) found.gpus = [...nodes.keys()]
    for (const [name, node] of nodes) if (!node.startsWith("-")) found.numa[name] = node
  }

  // Any of them.
  const FAILURES = /failed to run topology|nvidia-smi has failed|command not found|no devices were found|not recognized as/i
  function failure(lines) {
    for (const line of lines) {
      const match = FAILURES.exec(line.text)
      if (match) return new Refusal("failed", line.number, size(line.text.slice(0, match.index)) + 1, {said: [...trim(line.text)].slice(0, 80).join("")})
    }
  }
  function read(text) {
    const lines = readLines(text)
    let found
    try {
      found = isRocm(lines) ? readRocm(lines) : readNvidia(lines)
    } catch (error) {
      throw error instanceof Refusal && error.key === "no-rows" && failure(lines) || error
    }
    if (!found) throw failure(lines) || new Refusal("nothing", 1, 1)
    return found
  }
  const refused = error => ({line: error.line, column: error.column, problem: fill(`refused.${error.key}`, error.values), remedy: fill(`remedy.${error.key}`, error.values), seen: error.seen})
  const link = (box, one, other) => box.links.get(pairKey(one, other)) ?? box.links.get(pairKey(other, one))
  return {read, refused, Refusal, fill, listed, link, pairKey, isFast, rank, kind, NEAR, P2P_CODES}
})()
