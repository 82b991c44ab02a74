// Opens the pair that the address names: #N, or #N&l3 for its third passage.
const packed = JSON.parse(one("packed").textContent);

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

async function openPair(number) {
  const place = number - packed.first, chunk = packed.pairs[Math.floor(place / packed.chunk)];
  const fragment = chunk && JSON.parse(await unpacked(chunk))[place % packed.chunk];
  if (!fragment) { one("wait").textContent = "This pair is not in this page: choose one on the overview."; return; }
  one("body").innerHTML = fragment;
  document.title = document.querySelector("h1").textContent.replace(/\s+/g, " ") + " \u2013 " + document.title;
  for (const pre of document.querySelectorAll("pre[data-text]")) {
    pre.innerHTML = await unpacked(packed.texts[pre.dataset.text]);
    const regions = pre.dataset.regions.split(" ").filter(Boolean).map((row) => row.split(",").map(Number));
    paint(pre, regions, pre.closest(".scroll").id);
    pre.removeAttribute("data-regions");
  }
  begin();
  document.body.dataset.opened = number;
}

const wanted = /^#(\d+)/.exec(location.hash);
if (wanted && typeof DecompressionStream === "undefined") one("wait").textContent = "This browser is too old to open pairs here. Write a page for each pair with --max-pages 0.";
else if (wanted) openPair(Number(wanted[1]));
addEventListener("hashchange", () => {
  const now = /^#(\d+)/.exec(location.hash);
  if (now && now[1] !== document.body.dataset.opened) location.reload();
});
