// Suggests the known addresses most similar to the requested one, by shared three-letter groups.
{
  const place = document.getElementById("nearest");
  const base = place.dataset.base.replace(/\/$/, "");
  const plain = text => text.toLowerCase().replace(/(\/index)?\.\w+$|\/$/, "").replace(/[^a-z0-9/]+/g, " ");
  const groups = text => new Set([...`  ${text} `].map((_, i, all) => all.slice(i, i + 3).join("")));
  const alike = (one, two) => {
    const [a, b] = [groups(one), groups(two)];
    return 2 * [...a].filter(group => b.has(group)).length / (a.size + b.size);
  };
  const last = text => text.split("/").pop();
  let asked = location.pathname;
  try { asked = decodeURIComponent(asked); } catch {}
  asked = plain(asked.startsWith(base + "/") ? asked.slice(base.length + 1) : asked.slice(1));
  const near = JSON.parse(document.getElementById("known").textContent)
    .map(([name, title, url]) => [Math.max(alike(asked, plain(name)), alike(last(asked), last(plain(name)))), name, title, url])
    .filter(([score]) => score > 0.4)
    .sort((one, two) => two[0] - one[0])
    .filter(([, , title], i, all) => all.findIndex(other => other[2] === title) === i)
    .slice(0, 3);
  for (const [, name, title, url] of near) {
    const link = document.createElement("a");
    link.href = `${base}/${url}${location.hash}`;
    link.textContent = title;
    const item = document.createElement("li");
    item.append(link, ` (${name})`);
    place.querySelector("ul").append(item);
  }
  place.hidden = !near.length;
}
