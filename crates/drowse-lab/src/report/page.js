"use strict";
// The page's script: tooltips, and timelines that zoom. Everything else stands without it.

const tip = document.getElementById("tip");

function showTip(text, x, y) {
  if (!text) { tip.hidden = true; return; }
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(x + 12, innerWidth - box.width - 8));
  const top = y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18;
  tip.style.left = left + "px";
  tip.style.top = Math.max(8, top) + "px";
}

for (const kind of ["pointermove", "pointerdown"]) {
  document.addEventListener(kind, (event) => {
    if (event.target.closest(".tl")) return;
    const owner = event.target.closest("[data-tip]");
    showTip(owner && owner.dataset.tip, event.clientX, event.clientY);
  });
}
document.addEventListener("keydown", (event) => { if (event.key === "Escape") showTip(); });
addEventListener("scroll", () => showTip(), { passive: true });

// Times are nanoseconds.
function time(ns, digits = 3) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (Math.abs(ns) >= size * 0.9995) return Number((ns / size).toPrecision(digits)) + " " + unit;
  }
  return Math.round(ns) + " ns";
}

const ROW = 30, TOP = 6, BOTTOM = 24, RIGHT = 10;
const STATES = { asleep: 3, sleepy: 8, idle: 14, active: 20, other: 14, job: 10 };
const fixed = (x) => Math.round(x * 100) / 100;
const middle = (row) => TOP + (row + 0.5) * ROW;

class Timeline {
  constructor(svg, group) {
    this.svg = svg;
    this.group = group;
    const data = JSON.parse(svg.parentNode.querySelector("script").textContent);
    this.rows = data.rows;
    this.names = Number(svg.dataset.names);
    this.spans = {};
    for (const [state, flat] of Object.entries(data.spans)) {
      const list = this.spans[state] = [];
      for (let i = 0, at = 0; i < flat.length; i += 3) {
        at += flat[i + 1];
        list.push({ row: flat[i], from: at, to: at + flat[i + 2], state });
      }
    }
    this.arrows = [];
    for (let i = 0, at = 0, f = data.arrows; i < f.length; i += 6) {
      at += f[i + 4];
      this.arrows.push({
        kind: data.words[f[i]], why: data.words[f[i + 1]], tail: f[i + 2], head: f[i + 3], from: at, to: at + f[i + 5],
      });
    }
    this.height = TOP + this.rows.length * ROW + BOTTOM;
    this.listen();
  }

  get plot() { return Math.max(40, this.width - this.names - RIGHT); }
  x(ns) { return this.names + (ns - this.group.from) / (this.group.to - this.group.from) * this.plot; }
  at(x) { return this.group.from + (x - this.names) / this.plot * (this.group.to - this.group.from); }

  draw() {
    this.width = this.svg.clientWidth || 560;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.svg.setAttribute("height", this.height);
    this.svg.querySelector("clipPath rect").setAttribute("width", this.plot);
    for (const state of Object.keys(STATES)) {
      this.svg.querySelector(".s." + state).setAttribute("d", this.bars(this.spans[state] || []));
    }
    for (const steal of [true, false]) {
      let lines = "", heads = "";
      for (const arrow of this.arrows) {
        if ((arrow.kind === "steal") !== steal || !this.sees(arrow)) continue;
        const [x1, y1, x2, y2] = this.ends(arrow);
        const length = Math.hypot(x2 - x1, y2 - y1) || 1, dx = (x2 - x1) / length, dy = (y2 - y1) / length;
        const point = (s) => `L${fixed(x2 - 6 * dx - s * 3 * dy)} ${fixed(y2 - 6 * dy + s * 3 * dx)}`;
        lines += `M${fixed(x1)} ${fixed(y1)}L${fixed(x2)} ${fixed(y2)}`;
        heads += `M${fixed(x2)} ${fixed(y2)}${point(1)}${point(-1)}Z`;
      }
      const kind = steal ? "steal" : "wake";
      this.svg.querySelector(".a." + kind).setAttribute("d", lines);
      this.svg.querySelector(".h." + kind).setAttribute("d", heads);
    }
    this.axis();
  }

  sees(thing) {
    const [from, to] = thing.from < thing.to ? [thing.from, thing.to] : [thing.to, thing.from];
    return to >= this.group.from && from <= this.group.to;
  }

  // A bar of less than a pixel is drawn as a pixel; what follows within the same pixel is not drawn again.
  bars(list) {
    const ends = new Array(this.rows.length).fill(-Infinity);
    let out = "";
    for (const span of list) {
      if (!this.sees(span)) continue;
      const left = Math.max(this.x(span.from), this.names - 2);
      const right = Math.max(Math.min(this.x(span.to), this.width), left + 1);
      if (right <= ends[span.row]) continue;
      ends[span.row] = right;
      out += `M${fixed(left)} ${middle(span.row)}H${fixed(right)}`;
    }
    return out;
  }

  ends(arrow) {
    const y1 = middle(arrow.tail), y2 = middle(arrow.head);
    const [x1, x2] = [this.x(arrow.from), this.x(arrow.to)];
    if (arrow.tail === arrow.head) return [x1, y1 - 14, x2, y2 - 5];
    return [x1, y1, x2, y2 - (y2 >= y1 ? 6 : -6)];
  }

  axis() {
    const { from, to } = this.group, most = Math.max(2, Math.floor(this.plot / 64));
    const rough = (to - from) / most, decade = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * decade).find((s) => s >= rough) || rough;
    const axis = this.svg.querySelector(".ax"), digits = Math.ceil(Math.log10(Math.max(to / step, 1))) + 2;
    axis.replaceChildren();
    const bottom = this.height - BOTTOM + 4;
    for (let i = Math.ceil(from / step); i * step <= to; i++) {
      const x = fixed(this.x(i * step));
      add(axis, "line", { x1: x, x2: x, y1: TOP, y2: bottom });
      if (x < this.width - 14) add(axis, "text", { x, y: this.height - 7 }).textContent = time(i * step, digits);
    }
  }

  listen() {
    const pointers = new Map();
    let moved = 0;
    const local = (event) => event.clientX - this.svg.getBoundingClientRect().left;
    this.svg.addEventListener("pointerdown", (event) => {
      pointers.set(event.pointerId, local(event));
      moved = 0;
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!pointers.has(event.pointerId)) { this.point(event); return; }
      const x = local(event), last = pointers.get(event.pointerId);
      const perPixel = (this.group.to - this.group.from) / this.plot;
      const others = [...pointers].filter(([id]) => id !== event.pointerId);
      moved += Math.abs(x - last);
      pointers.set(event.pointerId, x);
      if (others.length === 1) {
        const other = others[0][1], before = Math.abs(last - other), now = Math.abs(x - other);
        if (before > 8 && now > 8) this.group.zoom(before / now, this.at((x + other) / 2));
      } else if (moved > 3) {
        showTip();
        this.group.move((last - x) * perPixel);
      }
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      this.svg.addEventListener(kind, (event) => {
        pointers.delete(event.pointerId);
        if (kind === "pointerup" && moved <= 3) this.point(event);
      });
    }
    this.svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") showTip(); });
    this.svg.addEventListener("wheel", (event) => {
      const focused = document.activeElement === this.svg;
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        this.group.move(event.deltaX * (this.group.to - this.group.from) / this.plot);
      } else if (event.ctrlKey || event.metaKey || focused) {
        event.preventDefault();
        this.group.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 150), this.at(local(event)));
      }
    }, { passive: false });
    this.svg.addEventListener("keydown", (event) => {
      const what = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", "0": "all", Home: "all" }[event.key];
      if (!what || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.group.act(what);
    });
  }

  // Says what is under the pointer: an arrow if one is near, else the topmost bar.
  point(event) {
    const box = this.svg.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    showTip(x < this.names ? "" : this.arrowAt(x, y) || this.barAt(x, y), event.clientX, event.clientY);
  }

  arrowAt(x, y) {
    let best = 5, found = null;
    for (const arrow of this.arrows) {
      if (!this.sees(arrow)) continue;
      const [x1, y1, x2, y2] = this.ends(arrow), dx = x2 - x1, dy = y2 - y1;
      const part = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
      const distance = Math.hypot(x - x1 - part * dx, y - y1 - part * dy);
      if (distance < best) { best = distance; found = arrow; }
    }
    if (!found) return "";
    const verb = found.kind === "steal" ? "steals from" : "wakes";
    // The arrow of a theft goes from the victim to the thief, as the job does.
    const [who, whom] = found.kind === "steal" ? [found.head, found.tail] : [found.tail, found.head];
    const why = found.why ? ` (${found.why})` : "";
    const took = found.to > found.from ? `, which takes ${time(found.to - found.from)}` : "";
    return `${this.rows[who]} ${verb} ${this.rows[whom]}${why} at ${time(found.from, 6)}${took}`;
  }

  barAt(x, y) {
    const row = Math.floor((y - TOP) / ROW), slack = (this.group.to - this.group.from) / this.plot, at = this.at(x);
    if (row < 0 || row >= this.rows.length) return "";
    const found = [];
    for (const list of Object.values(this.spans)) {
      const hit = list.filter((s) => s.row === row && s.from - slack <= at && at <= Math.max(s.to, s.from + slack));
      if (hit.length) found.push(hit.reduce((a, b) => (b.to - b.from < a.to - a.from ? b : a)));
    }
    if (!found.length) return "";
    found.sort((a, b) => (a.to - a.from) - (b.to - b.from));
    const texts = found.slice(0, 2).map((s) => `${s.state} for ${time(s.to - s.from)} from ${time(s.from, 6)}`);
    return `${this.rows[row]}: ${texts.join("; ")}`;
  }
}

function add(parent, name, attributes) {
  const element = document.createElementNS(parent.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return parent.appendChild(element);
}

class Group {
  constructor(element) {
    this.element = element;
    this.length = element.dataset.length * 1e3;
    this.from = element.dataset.from * 1e3;
    this.to = element.dataset.to * 1e3;
    this.least = Math.min(this.length, 200);
    this.timelines = [...element.querySelectorAll(".tl")].map((svg) => new Timeline(svg, this));
    for (const button of element.querySelectorAll("[data-do]")) {
      button.addEventListener("click", () => this.act(button.dataset.do));
    }
    const map = element.querySelector(".map");
    map.addEventListener("pointerdown", (event) => {
      const part = (event.clientX - map.getBoundingClientRect().left) / map.clientWidth;
      this.move(part * this.length - (this.from + this.to) / 2);
    });
  }

  act(what) {
    const width = this.to - this.from;
    if (what === "in") this.zoom(1 / 1.6);
    else if (what === "out") this.zoom(1.6);
    else if (what === "left") this.move(-width / 4);
    else if (what === "right") this.move(width / 4);
    else this.show(0, this.length);
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    const width = Math.max(this.least, Math.min(this.length, (this.to - this.from) * factor));
    const part = (around - this.from) / (this.to - this.from);
    this.show(around - part * width, around + (1 - part) * width);
  }

  move(by) { this.show(this.from + by, this.to + by); }

  show(from, to) {
    const width = Math.min(to - from, this.length);
    this.from = Math.max(0, Math.min(from, this.length - width));
    this.to = this.from + width;
    this.pending ||= requestAnimationFrame(() => { this.pending = 0; this.draw(); });
  }

  draw() {
    for (const timeline of this.timelines) timeline.draw();
    const percent = (ns) => (ns / this.length * 100) + "%";
    const thumb = this.element.querySelector(".map i"), width = this.to - this.from;
    thumb.style.left = percent(this.from);
    thumb.style.width = percent(width);
    this.element.querySelector(".where").textContent = `${time(this.from, 4)} to ${time(this.to, 4)} of ${time(this.length)}`;
    this.element.dataset.shown = `${Math.round(this.from)} ${Math.round(this.to)}`;
    const whole = width >= this.length * 0.9999;
    const off = { out: whole, all: whole, left: this.from <= 0, right: this.to >= this.length * 0.9999, in: width <= this.least };
    for (const button of this.element.querySelectorAll("[data-do]")) {
      // Stays focusable: who zooms by keyboard should not lose the place.
      button.setAttribute("aria-disabled", off[button.dataset.do]);
    }
  }
}

const groups = [...document.querySelectorAll(".tlgroup")].map((element) => new Group(element));
const drawAll = () => groups.forEach((group) => group.draw());
drawAll();
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawAll(); } });
document.documentElement.dataset.ready = "yes";
