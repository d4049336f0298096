// What only the browser can do: open the sidebar, fill the clipboard, save the figure as a picture,
// and pass the arrow keys to the batch slider while presenting. No numbers are made here.

const TOP_LINE_PX = 22;
const FOOT_LINE_PX = 18;
const PAPER_PX = { wide: 930, narrow: 380 }; // a report holds each figure for paper and for a phone
const FIGURES = "<!-- figures -->"; // where a report's figures go; ui/report.py writes it

const BURST_MS = 150;

// A ready-made scenario changes seven controls, and Streamlit makes seven history entries of it.
// Back should undo it in one: what follows within a moment on the same page replaces the entry.
function oneEntryPerChange() {
  if (history.bursts) return;
  history.bursts = true;
  const push = history.pushState.bind(history);
  let last = -Infinity;
  history.pushState = (state, title, url) => {
    const now = performance.now();
    const same = new URL(url ?? "", location.href).pathname === location.pathname;
    if (same && now - last < BURST_MS) history.replaceState(state, title, url);
    else push(state, title, url);
    last = now;
  };
}

function graph() {
  return document.querySelector(".plot-graph");
}

// "**$1.19**" -> bold in Plotly's own small markup; everything else stays text.
function marked(text) {
  const safe = text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  return safe.split("**").map((part, at) => (at % 2 ? `<b>${part}</b>` : part)).join("");
}

function wrapped(text, most) {
  const lines = [""];
  const pieces = text.split(" ").flatMap((word) => word.match(new RegExp(`.{1,${most}}`, "g")) ?? []);
  for (const word of pieces) {
    const last = lines.at(-1);
    if (last && (last + word).replaceAll("**", "").length >= most) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}

// A bold part may have been cut by a line break: close it and open it again.
function balanced(lines) {
  let open = false;
  return lines.map((line) => {
    const started = open;
    if ((line.split("**").length - 1) % 2) open = !open;
    return `${started ? "**" : ""}${line}${open ? "**" : ""}`;
  });
}

export function captioned(figure, captions, width, height, colours) {
  const layout = JSON.parse(JSON.stringify(figure.layout));
  const head = balanced(wrapped(captions.answer, Math.floor(width / 8)));
  const foot = captions.foot.flatMap((line) => wrapped(line, Math.floor(width / 6.6)));
  const top = captions.answer ? head.length * TOP_LINE_PX + 12 : 0;
  const bottom = foot.length * FOOT_LINE_PX + 10;
  const margin = { l: 60, r: 20, t: 30, b: 40, ...layout.margin };
  layout.margin = { ...margin, t: margin.t + top, b: margin.b + bottom };
  layout.annotations = [
    ...(layout.annotations ?? []),
    ...(top ? [{ text: head.map(marked).join("<br>"), x: 0, y: 1, xref: "paper", yref: "paper", xanchor: "left",
      yanchor: "bottom", xshift: 8 - margin.l, yshift: margin.t, align: "left", showarrow: false,
      font: { size: 17, color: colours.ink } }] : []),
    { text: foot.map(marked).join("<br>"), x: 0, y: 0, xref: "paper", yref: "paper", xanchor: "left",
      yanchor: "top", xshift: 8 - margin.l, yshift: -margin.b, align: "left", showarrow: false,
      font: { size: 12, color: colours.muted } },
  ];
  layout.width = width;
  layout.height = height + top + bottom;
  layout.paper_bgcolor = layout.plot_bgcolor = colours.paper;
  return { data: figure.data, layout };
}

// Streamlit hands its theme to components as variables; a popover lies outside the page's own scheme.
function colours(element) {
  const probe = document.createElement("span");
  element.append(probe);
  const of = (name) => {
    probe.style.color = `var(--st-${name})`;
    return getComputedStyle(probe).color;
  };
  const [ink, paper] = [of("text-color"), of("background-color")];
  probe.remove();
  const dark = paper.match(/[\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) < 384;
  return { ink, paper, muted: dark ? "#9AA4AF" : "#57606A" };
}

// The answer as it stands on the page now, the batch slider's last move included.
function liveAnswer() {
  const shown = document.querySelector(".answer");
  if (!shown) return "";
  return [...shown.childNodes]
    .map((node) => (node.nodeName === "B" ? `**${node.textContent}**` : node.textContent)).join("").trim();
}

async function picture(format, captions, name, element) {
  const shown = graph();
  if (!shown?.layout || !window.Plotly) return "no figure here";
  const { offsetWidth: width, offsetHeight: height } = shown;
  const told = { ...captions, answer: liveAnswer() || captions.answer };
  const figure = captioned(shown, told, width, height, colours(element));
  await window.Plotly.downloadImage(figure, {
    format, filename: name, scale: 2, width: figure.layout.width, height: figure.layout.height,
  });
  return "saved";
}

function attribute(text) {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}

// The page's figures as pictures that lie in the file itself; as pictures they can load and run nothing.
async function drawings() {
  const views = [...document.querySelectorAll(".plot-root")].filter((root) => root.offsetParent)
    .map((root) => root.view).filter((view) => view?.painted);
  const drawn = await Promise.all(views.map(async (view) => {
    const pictures = await Promise.all(Object.entries(PAPER_PX).map(async ([kind, width]) => {
      const figure = view.printed(kind === "narrow", width);
      const { height } = figure.layout;
      const source = await window.Plotly.toImage(figure, { format: "svg", width, height });
      return `<img class="${kind}" width="${width}" height="${height}" alt="${attribute(view.sent.alt)}" src="${source}">`;
    }));
    return `<figure>${pictures.join("")}</figure>`;
  }));
  return drawn.join("\n");
}

async function report(text, name) {
  const [before, after] = text.split(FIGURES);
  const file = new Blob([before, await drawings(), after], { type: "text/html" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${name}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return "saved";
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or a page without https
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  return "copied";
}

function openSidebar() {
  document.querySelector("[data-testid='stExpandSidebarButton'] button, [data-testid='stExpandSidebarButton']")?.click();
}

// While presenting, the arrows move the batch wherever the focus is.
function present() {
  if (window.presentingKeys) return;
  window.presentingKeys = true;
  document.addEventListener("keydown", (event) => {
    const slider = document.querySelector(".plot-slider input");
    const bare = document.querySelector(".bridge-present");
    if (!slider || !bare || event.target === slider || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    if (event.target.matches?.("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    slider.focus();
    slider.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, bubbles: true }));
  });
}

export default function ({ data, parentElement }) {
  oneEntryPerChange();
  const box = parentElement.querySelector(".bridge");
  box.className = `bridge bridge-${data.kind}`;
  if (data.kind === "present") present();
  box.replaceChildren(...data.actions.map((action) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = action.label;
    button.dataset.action = action.name;
    if (action.hint) button.title = action.hint;
    button.addEventListener("click", async () => {
      if (action.does === "sidebar") return openSidebar();
      const answer = (liveAnswer() || data.captions.answer).replaceAll("**", "");
      const said = action.does === "picture" ? await picture(action.text, data.captions, data.name, box)
        : action.does === "report" ? await report(action.text, data.name)
        : await copy(action.name === "sentence" && answer ? `${answer} ${action.text}` : action.text);
      button.textContent = `${action.label}: ${said}`;
      setTimeout(() => { button.textContent = action.label; }, 2000);
    });
    return button;
  }));
}
