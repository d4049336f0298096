// The one chart component: keeps a Plotly figure alive, and moves its operating point from a table.
// No formula lives here. Everything that follows the batch slider is read from the table that the
// server sent with the figure, one row a tick; the server stays the only one that computes.
// The protocol is documented in __init__.py.

const PALETTE = "PALETTE"; // replaced at registration by {light: {role: colour}, dark: {...}}
const NARROW_PX = 560;
const PLACED_PX = 930; // the width that a wide layout's names are placed for
const NEAR_PX = 24; // a click this far from a line is still on it
const REST_MS = 300; // a drag is committed after this rest: each commit is one history entry
const ANNOUNCE_MS = 500;
const ECHO_MS = 1500; // how long a commit may take before the server's own batch wins again

let library;
function plotly(source) {
  library ??= window.Plotly
    ? Promise.resolve(window.Plotly)
    : new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = source;
        script.onload = () => resolve(window.Plotly);
        script.onerror = () => { library = undefined; reject(new Error(`${source} did not load`)); };
        document.head.append(script);
      });
  return library;
}

// "role:ink/0.16" -> a colour of the theme that the reader's screen shows now.
function coloured(text, theme) {
  return text.replace(/role:([a-z_0-9]+)(?:\/([\d.]+))?/g, (token, name, opacity) => {
    const colour = PALETTE[theme][name];
    if (!colour) return token;
    if (!opacity) return colour;
    const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    return `rgba(${parts.join(",")},${opacity})`;
  });
}

// Which theme a background belongs to; asked of the browser once a colour.
const themes = new Map();
function themeOf(element) {
  const background = getComputedStyle(element).getPropertyValue("--st-background-color") || "#fff";
  if (!themes.has(background)) {
    const probe = document.createElement("span");
    probe.style.color = background;
    element.append(probe);
    const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
    probe.remove();
    themes.set(background, red + green + blue < 384 ? "dark" : "light");
  }
  return themes.get(background);
}

// "costs **$1.19**" -> text and <b>, built as nodes: a value can never become markup.
function write(element, text) {
  if (element.dataset.shown === text) return;
  element.dataset.shown = text;
  element.replaceChildren(...text.split("**").map((part, at) => {
    if (at % 2 === 0) return part;
    const bold = document.createElement("b");
    bold.textContent = part;
    return bold;
  }));
}

// Figures and tables by their digests, the latest few.
const kept = new Map();
function keep(digest, line) {
  kept.delete(digest);
  kept.set(digest, line);
  if (kept.size > 12) kept.delete(kept.keys().next().value);
}

function nearest(ticks, batch) {
  let best = 0;
  for (let at = 1; at < ticks.length; at++)
    if (Math.abs(Math.log(ticks[at] / batch)) < Math.abs(Math.log(ticks[best] / batch))) best = at;
  return best;
}

class View {
  constructor(root) {
    this.root = root;
    this.box = root.querySelector(".plot-box");
    this.graph = root.querySelector(".plot-graph");
    this.bar = root.querySelector(".plot-slider");
    this.input = root.querySelector("input");
    this.label = root.querySelector("label");
    this.polite = root.querySelector(".plot-polite");
    this.input.id = `plot-${Math.random().toString(36).slice(2)}`;
    this.label.htmlFor = this.input.id;
    this.painted = 0;
    this.request = 0;
    this.at = 0;
    this.watcher = new ResizeObserver(() => this.resized());
    this.watcher.observe(this.box);
    this.listen();
  }

  // --- from the server ---------------------------------------------------------------------

  // Three lines of JSON: what the box needs, the figure, the table. An empty line stands for one that
  // the browser said it holds. A figure that is drawn already is not drawn again, so a new batch over
  // the same curve costs no drawing but that of the moved parts.
  async receive(text, send) {
    this.send = send;
    const theme = themeOf(this.root);
    const [box, ...lines] = text.split("\n");
    if (box === this.box_line && theme === this.theme) return this.painted ? this.follow() : undefined;
    const sent = JSON.parse(box);
    for (const [at, part] of ["figure", "table"].entries()) {
      if (lines[at]) keep(sent[part], lines[at]);
      else if (!kept.has(sent[part])) return send("batch", { batch: sent.batch }); // then all is sent
    }
    const redrawn = sent.figure !== this.sent?.figure || theme !== this.theme;
    const moved = redrawn || sent.table !== this.sent?.table;
    const from = this.at;
    this.box_line = box;
    this.theme = theme;
    this.sent = sent;
    if (moved) this.table = JSON.parse(coloured(kept.get(sent.table), theme));
    this.adopt();
    this.size();
    if (redrawn || !this.painted) await this.paint();
    else {
      if (moved || this.at !== from) this.redraw();
      else this.follow(); // drawn already while the reader moved; only the page around it is new
      this.done();
    }
  }

  // Take the server's batch, unless the reader has moved on since: then the server's answer is stale.
  adopt() {
    const live = this.table;
    const { batch } = this.sent;
    this.bar.hidden = !live;
    if (!live) return;
    const wanted = this.ticks?.[this.at];
    const echoed = this.pending === batch;
    if (echoed) this.pending = undefined;
    const waiting = this.pending !== undefined && Date.now() - this.since < ECHO_MS;
    if (!waiting) this.pending = undefined;
    this.ticks = live.ticks;
    this.label.textContent = live.label;
    this.input.max = Math.log2(live.ticks.at(-1));
    const busy = this.held || this.timer !== undefined || waiting;
    this.at = nearest(live.ticks, busy && wanted ? wanted : batch);
    this.box.dataset.served = batch;
    clearTimeout(this.echo);
    if (waiting) this.echo = setTimeout(() => { this.adopt(); this.redraw(); }, ECHO_MS);
  }

  async paint() {
    const request = ++this.request;
    const Plotly = await plotly(this.sent.source);
    if (request !== this.request) return; // a newer figure came while this one waited
    const narrow = this.narrow();
    this.figure = JSON.parse(coloured(kept.get(this.sent.figure), this.theme));
    const chosen = narrow ? this.figure.layout_narrow : this.figure.layout;
    const layout = {
      ...chosen, autosize: true, height: this.height(),
      font: { ...chosen.font, family: getComputedStyle(this.root).getPropertyValue("--st-font") },
      ...(narrow ? { dragmode: false } : {}), // a finger scrolls the page
    };
    this.graph.classList.remove("plot-waiting");
    for (const [part, path, , values] of this.moved(this.figure.data, layout))
      for (const [key, value] of values) part[key] = path === "trace" ? [value] : value;
    await Plotly.react(this.graph, this.figure.data, layout, {
      displaylogo: false,
      displayModeBar: false, // buttons inside an image can't be reached by those who can't see it; Share saves it
      doubleClick: "reset",
    });
    if (request !== this.request) return;
    if (!this.bound) {
      this.bound = true;
      this.graph.on("plotly_click", (event) => this.clicked(event));
    }
    this.align();
    this.follow();
    this.done();
  }

  // Say what is on screen: to those who can't see it, and to tests.
  done() {
    this.graph.setAttribute("role", "img");
    this.graph.setAttribute("aria-label", this.sent.alt);
    const { stamp } = this.sent;
    Object.assign(this.box.dataset, { painted: ++this.painted, stamp, theme: this.theme, scale: this.scale() });
  }

  // --- following the batch -----------------------------------------------------------------

  cell(column, table = this.table) { return table.columns[column][this.at]; }

  // The parts of a figure that a move names, with their new values from the table.
  *moved(data, layout, table = this.table) {
    for (const move of table?.moves ?? []) {
      const [list, path] = move.trace !== undefined ? [data, "trace"]
        : move.shape !== undefined ? [layout.shapes, "shapes"] : [layout.annotations, "annotations"];
      const name = move.trace ?? move.shape ?? move.annotation;
      const index = (list ?? []).findIndex((part) => part.name === name);
      if (index < 0) continue; // the narrow layout may leave a mark out
      yield [list[index], path, index, Object.entries(move.set).map(([key, column]) => [key, this.cell(column, table)])];
    }
  }

  // The figure for paper: as it stands now, but wide or narrow as asked, and light on any screen.
  printed(narrow, width) {
    const light = (digest) => JSON.parse(coloured(kept.get(digest), "light"));
    const figure = light(this.sent.figure);
    const layout = narrow ? figure.layout_narrow : figure.layout;
    for (const [part, path, , values] of this.moved(figure.data, layout, light(this.sent.table)))
      for (const [key, value] of values) part[key] = path === "trace" ? [value] : value;
    const height = narrow ? this.sent.height_narrow_px : this.sent.height_px;
    const font = { ...layout.font, family: "system-ui, sans-serif" };
    return { data: figure.data, layout: { ...layout, width, height, font, paper_bgcolor: "#fff" } };
  }

  // Draw only what moves. Asked to move a mark, Plotly computes the whole figure anew (50 ms). With
  // fixed axes that is not needed: the place is written into the layout, and Plotly is asked for a
  // change that costs only the drawing of this mark (3 ms). A moved trace does cost the whole.
  redraw() {
    const layout = this.graph.layout;
    if (!layout) return;
    const traces = {}, marks = {}, indices = [];
    for (const [part, path, index, values] of this.moved(this.figure.data, layout)) {
      if (path !== "trace") {
        const next = Object.fromEntries(values);
        const unseen = part.opacity === 0 && (next.opacity ?? 0) === 0;
        if (unseen || values.every(([key, value]) => part[key] === value)) continue; // nothing to draw
        Object.assign(part, next);
        marks[`${path}[${index}].opacity`] = part.opacity ?? 1;
      } else {
        indices.push(index);
        for (const [key, value] of values) (traces[key] ??= []).push([value]);
      }
    }
    if (indices.length) window.Plotly.update(this.graph, traces, marks, indices);
    else if (Object.keys(marks).length) window.Plotly.relayout(this.graph, marks);
    this.follow();
  }

  // Words, numbers and styles outside the figure, and the slider itself.
  follow() {
    const live = this.table;
    if (!live) return;
    for (const element of document.querySelectorAll("[data-live]")) {
      const column = live.texts[element.dataset.live];
      if (column !== undefined) write(element, this.cell(column));
    }
    for (const element of document.querySelectorAll("[data-live-style]"))
      for (const [property, column] of Object.entries(live.styles)) {
        const value = this.cell(column);
        if (element.style.getPropertyValue(property) !== value) element.style.setProperty(property, value);
      }
    const batch = this.ticks[this.at];
    if (!this.held) this.input.value = Math.log2(batch);
    this.input.setAttribute("aria-valuetext", this.cell(live.say));
    this.box.dataset.batch = batch;
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => write(this.polite, this.cell(live.announce)), ANNOUNCE_MS);
  }

  // --- from the reader ---------------------------------------------------------------------

  listen() {
    this.hear = (event) => this.sent_to(event);
    document.addEventListener("click", this.hear);
    this.input.addEventListener("input", () => {
      this.held = true;
      this.go(nearest(this.ticks, 2 ** this.input.valueAsNumber));
      this.later(REST_MS);
    });
    this.input.addEventListener("change", () => {
      this.held = false;
      this.input.value = Math.log2(this.ticks[this.at]);
      this.commit();
    });
    for (const end of ["pointerup", "pointercancel", "blur"])
      this.input.addEventListener(end, () => { this.held = false; });
    this.input.addEventListener("keydown", (event) => {
      const next = this.step(event.key);
      if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.held = false;
      // A single press is answered at once; a held key only when it rests.
      const rests = event.repeat || this.pending !== undefined;
      this.go(Math.max(0, Math.min(this.ticks.length - 1, next)), !rests);
      if (rests) this.later(REST_MS / 2);
      else this.commit();
    });
  }

  // A button anywhere on the page that goes to a batch, e.g. in the table of edges. The page may replace
  // the button, so the keyboard goes on at the slider.
  sent_to(event) {
    const button = event.target.closest?.("[data-go-batch]");
    if (!button || !this.table) return;
    this.go(nearest(this.ticks, Number(button.dataset.goBatch)), true);
    this.commit();
    this.input.focus({ preventScroll: true });
  }

  step(key) {
    const batch = this.ticks[this.at];
    switch (key) {
      case "ArrowRight": case "ArrowUp": return this.at + 1;
      case "ArrowLeft": case "ArrowDown": return this.at - 1;
      case "PageUp": return nearest(this.ticks, batch * 2);
      case "PageDown": return nearest(this.ticks, batch / 2);
      case "Home": return 0;
      case "End": return this.ticks.length - 1;
    }
    return undefined;
  }

  // One drawing a frame, whatever the rate of input. Where the batch is sent at once, the drawing comes
  // a frame later: it would hold up the message by its own time, and the server works meanwhile.
  go(at, sending = false) {
    if (at === this.at) return;
    this.at = at;
    if (this.frame) return;
    const draw = () => { this.frame = undefined; this.redraw(); };
    this.frame = requestAnimationFrame(sending ? () => requestAnimationFrame(draw) : draw);
  }

  later(rest_ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.commit(), rest_ms);
  }

  commit(line) {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = this.ticks[this.at];
    if (line === undefined && batch === (this.pending ?? this.sent.batch)) return;
    this.pending = batch;
    this.since = Date.now();
    this.send("batch", { batch, line, held: [this.sent.figure, this.sent.table] });
  }

  // A click takes the batch under it; on a line that stands for another setup, that setup too.
  clicked(event) {
    const point = event.points[0];
    if (this.table?.click && point) {
      this.go(nearest(this.ticks, point.x));
      this.commit(this.line_at(event)?.data.meta);
    } else if (this.sent.pick && point?.customdata !== undefined) {
      this.send("pick", point.customdata);
    }
  }

  // The point of the line that was clicked: a click names a point of every line over its batch.
  line_at({ points, event }) {
    const y = (event.clientY - this.graph.getBoundingClientRect().top) / this.scale();
    const away = ({ yaxis, y: value }) => Math.abs(yaxis._offset + yaxis.d2p(value) - y);
    return points.filter((point) => away(point) <= NEAR_PX).sort((one, other) => away(one) - away(other))[0];
  }

  // --- size --------------------------------------------------------------------------------

  narrow() { return this.box.clientWidth < NARROW_PX; }

  height() { return this.narrow() ? this.sent.height_narrow_px : this.sent.height_px; }

  // For a room all of a figure is enlarged, letters, lines and marks alike, as far as its width allows:
  // what was placed to stand clear on a desk stands clear there too.
  scale() {
    return this.narrow() ? 1 : Math.max(1, Math.min(this.sent.scale, this.box.clientWidth / PLACED_PX));
  }

  // Set before the library has loaded, so that nothing under the figure jumps.
  size() {
    const scale = this.scale(), enlarged = scale > 1;
    Object.assign(this.graph.style, {
      height: `${this.height()}px`,
      width: enlarged ? `${this.box.clientWidth / scale}px` : "",
      transform: enlarged ? `scale(${scale})` : "",
      transformOrigin: "0 0",
      marginBottom: enlarged ? `${(scale - 1) * this.height()}px` : "",
    });
  }

  resized() {
    if (!this.sent || !this.graph.layout) return;
    const narrow = this.narrow();
    if (this.was_narrow !== undefined && narrow !== this.was_narrow) {
      this.size();
      this.paint();
    } else if (this.width !== this.box.clientWidth) {
      this.size();
      window.Plotly.Plots.resize(this.graph).then(() => this.align());
    }
    this.was_narrow = narrow;
    this.width = this.box.clientWidth;
  }

  // The slider runs exactly under the x axis: its thumb stands below the operating point.
  align() {
    const size = this.graph._fullLayout?._size;
    if (!size) return;
    this.was_narrow = this.narrow();
    this.width = this.box.clientWidth;
    this.bar.style.setProperty("--left", `${size.l * this.scale()}px`);
    this.bar.style.setProperty("--right", `${size.r * this.scale()}px`);
  }

  leave() {
    this.watcher.disconnect();
    document.removeEventListener("click", this.hear);
    clearTimeout(this.timer);
    clearTimeout(this.speaking);
    clearTimeout(this.echo);
    this.request++;
    if (window.Plotly) window.Plotly.purge(this.graph);
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".plot-root");
  const view = (root.view ??= new View(root));
  view.receive(new TextDecoder().decode(data), setTriggerValue);
  return () => { view.leave(); root.view = undefined; };
}
