// What the filters of long tables share: words that are looked for, and the state in the address.
const tableFilters = {
  // A word is looked for where a name begins: `adafactor` is not `galore_adafactor`, and `8bit` is `8-bit`.
  names: text => [...new Set(text.toLowerCase().split(/\s+/).flatMap(name =>
    [name, name.replace(/[^\p{L}\p{N}_]+/gu, ""), ...name.split(/[^\p{L}\p{N}_]+/u)]))],
  matches: (names, words) => words.toLowerCase().split(/\s+/).every(word => names.some(name => name.startsWith(word))),
  recalled: () => new URLSearchParams(location.hash.slice(1)),
  remember(state) {
    const hash = new URLSearchParams(Object.entries(state).filter(([, value]) => value)).toString()
    // The address of a heading stays until something is chosen.
    if (hash || location.hash.includes("=")) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search)
  },
}
