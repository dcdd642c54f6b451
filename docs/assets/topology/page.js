// The page's field: reads what is pasted, and shows the report, the drawing, or the place that cannot be read.
{
  const {Refusal, read, refused} = topologyReader, root = document.getElementById("read-topology")
  const make = (tag, props = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), props)
    made.append(...inside)
    return made
  }
  const EXAMPLE = [...root.querySelectorAll("pre code")].at(-1)?.textContent ?? ""
  const field = make("textarea", {id: "topology-text", rows: 9, spellcheck: false, autocomplete: "off", wrap: "off"})
  const button = make("button", {type: "button", textContent: "Read this example", className: "md-button"})
  const status = make("p", {className: "topo-says"}), shown = make("div", {className: "topo-report"})
  status.setAttribute("role", "status")
  const label = make("label", {htmlFor: field.id}, "Output of nvidia-smi topo -m, nvidia-smi topo -p2p r, or rocm-smi --showtopo. It stays in this page.")
  root.querySelector(".topo-form").replaceChildren(label, field, button, status, shown)

  const list = (title, rows) => rows.length ? [make("h3", {textContent: title}), make("ul", {}, ...rows.map(row => make("li", {}, ...row)))] : []
  const strong = text => make("strong", {textContent: text})

  function show() {
    shown.replaceChildren()
    root.dataset.state = ""
    if (!field.value.trim()) return status.replaceChildren()
    try {
      answer(topologyReport.report(read(field.value)))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refuse(refused(error))
    }
  }

  function answer(report) {
    root.dataset.state = "read"
    status.replaceChildren(strong(report.summary), report.slowest ? ` ${report.slowest}` : "")
    const drawing = make("div", {className: "topo-drawing", innerHTML: topologyDrawing.svg(report)})
    const level = {fault: "Likely fault. ", warning: "Warning. ", note: ""}
    shown.replaceChildren(drawing,
      ...list("Findings", report.findings.map(each => [make("span", {className: each.level}, strong(level[each.level]), each.text)])),
      ...list("What it means here", Object.entries(report.advice).map(([name, says]) => [strong(name), `: ${says}`])),
      ...list("What this text cannot show", report.limits.map(each => [each])),
      ...list("Codes in this text", report.codes.map(([code, means]) => [make("code", {textContent: code}), `: ${means}`])))
  }

  function refuse({line, column, problem, remedy, seen}) {
    root.dataset.state = "refused"
    status.replaceChildren(strong(`Line ${line}, column ${column}: `), `${problem}. ${remedy}`)
    const row = field.value.split(/\r\n|\r|\n/)[line - 1] ?? "", characters = [...row.replaceAll("\t", " ")], from = Math.max(0, column - 30)
    const pointer = `${characters.slice(from, from + 60).join("")}\n${" ".repeat(Math.max(0, column - 1 - from))}^`
    shown.replaceChildren(make("pre", {}, make("code", {textContent: pointer})), ...seen.map(textContent => make("p", {textContent})))
  }

  field.addEventListener("input", show)
  button.addEventListener("click", () => {
    field.value = EXAMPLE
    show()
  })
  if (field.value) show()
}
