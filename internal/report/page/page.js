// What a report does where scripts run: tables that sort, filter and open, buttons to copy,
// the process map, and trajectories as a trace viewer shows them. All of it is in the page as
// data or as a table, so that a reader without scripts misses convenience only. Text from
// traces is only ever set as text content.
(() => {
  "use strict";

  const made = (e, attributes, children) => {
    for (const [k, v] of Object.entries(attributes)) {
      if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
      else if (v !== false && v != null) e.setAttribute(k, v === true ? "" : v);
    }
    e.append(...children);
    return e;
  };
  const make = (tag, attributes = {}, ...children) => made(document.createElement(tag), attributes, children);
  const draw = (tag, attributes = {}, ...children) => made(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const number = (x) => x.toLocaleString("en-US");
  const countOf = (n, noun) => `${number(n)} ${n === 1 ? noun : noun.replace(/y$/, "ie") + "s"}`;
  const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "not known");
  const seconds = (s) => {
    if (s == null) return "not recorded";
    if (s < 1) return `${Math.round(s * 1000)} ms`;
    if (s < 120) return `${s.toFixed(1)} s`;
    if (s < 7200) return `${(s / 60).toFixed(1)} min`;
    return `${(s / 3600).toFixed(1)} h`;
  };
  const short = (s, n) => (s.length > n ? `${s.slice(0, n - 1)}…` : s);
  let ids = 0;
  const labelled = (text, control) => {
    control.id = `x${++ids}`;
    return [make("label", { for: control.id }, text), control];
  };
  document.documentElement.classList.add("scripts");

  // ---- commands

  for (const pre of document.querySelectorAll("pre")) {
    const text = pre.textContent.trim();
    const button = make("button", { type: "button", class: "copy", "aria-label": `Copy: ${short(text, 60)}`, onclick: () => {
      const range = document.createRange(); // also where the clipboard is out of reach, as in a file
      range.selectNodeContents(pre.querySelector("code") || pre);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (navigator.clipboard) navigator.clipboard.writeText(text).catch(() => {});
      else document.execCommand("copy");
      button.textContent = "copied";
    } }, "copy");
    pre.append(button);
  }

  // ---- tables

  // value returns what a cell sorts by: its number if it shows one.
  const value = (cell) => {
    const text = cell.textContent.trim();
    const m = /^[^\d-]*(-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)/.exec(text.replace(/^[$€]/, ""));
    return cell.classList.contains("r") && m ? Number(m[1].replaceAll(",", "")) : text.toLowerCase();
  };
  const rowsShown = 10; // of a long table, and a button for the rest
  const unfold = (table) => {
    if (!table.classList.contains("folded")) return;
    table.classList.remove("folded");
    table.parentElement.nextElementSibling.remove();
  };
  const interactive = (table) => {
    const body = table.tBodies[0];
    if (!body) return;
    // A row with what it opens to.
    const rows = [...body.rows].filter((r) => !r.classList.contains("more")).map((row) => {
      const below = row.nextElementSibling?.classList.contains("more") ? row.nextElementSibling : null;
      if (below) {
        const open = make("button", { type: "button", class: "opener", "aria-expanded": "false", onclick: () => {
          const now = open.getAttribute("aria-expanded") !== "true";
          open.setAttribute("aria-expanded", now);
          below.classList.toggle("open", now);
        } });
        open.append(...row.cells[0].childNodes);
        row.cells[0].append(open);
      }
      return { row, below };
    });
    if (rows.length < 2) return;
    const title = table.caption?.textContent || table.closest("section")?.querySelector("h2")?.textContent || "this table";
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((th, column) => {
      const button = make("button", { type: "button", class: "sort" });
      button.append(...th.childNodes);
      th.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = th.getAttribute("aria-sort");
        const next = { ascending: "descending", descending: null }[now] ?? (now ? null : "ascending");
        for (const other of heads) other.removeAttribute("aria-sort");
        let order = rows;
        if (now !== "descending") {
          th.setAttribute("aria-sort", next);
          const sign = next === "ascending" ? 1 : -1;
          order = rows
            .map((r, at) => ({ r, at, v: value(r.row.cells[column]) }))
            .sort((a, b) => {
              const one = typeof a.v, two = typeof b.v;
              if (one !== two) return one === "number" ? -1 : 1; // unknown ones last, either way
              return (a.v < b.v ? -sign : a.v > b.v ? sign : 0) || a.at - b.at;
            })
            .map((x) => x.r);
        }
        for (const r of order) body.append(...(r.below ? [r.row, r.below] : [r.row]));
      });
    });
    const opens = rows.some((r) => r.below);
    if (rows.length > rowsShown + 4 && !opens) {
      table.classList.add("folded");
      table.parentElement.after(make("button", { type: "button", class: "rest", onclick: () => unfold(table) }, `all ${number(rows.length)} rows`));
    }
    if (rows.length < 12 && !opens) return;
    const left = make("span", { class: "count", role: "status" });
    const input = make("input", { type: "search", placeholder: "filter rows", "aria-label": `Filter rows of ${title}` });
    input.addEventListener("input", () => {
      unfold(table);
      const want = input.value.trim().toLowerCase();
      let shown = 0;
      for (const r of rows) {
        r.row.hidden = want !== "" && !r.row.textContent.toLowerCase().includes(want);
        if (r.below) r.below.hidden = r.row.hidden;
        if (!r.row.hidden) shown++;
      }
      left.textContent = want ? `${number(shown)} of ${number(rows.length)} rows` : "";
    });
    table.parentElement.before(make("div", { class: "tools-of-table" }, input, left));
  };
  for (const table of document.querySelectorAll(".table > table")) interactive(table);
  const regions = new Map(); // names, which have to differ
  for (const box of document.querySelectorAll(".table")) {
    box.tabIndex = 0; // so that the keyboard can scroll it
    box.setAttribute("role", "region");
    const name = box.querySelector("caption")?.textContent || box.closest("section")?.querySelector("h2")?.textContent || "table";
    const times = (regions.get(name) || 0) + 1;
    regions.set(name, times);
    box.setAttribute("aria-label", times > 1 ? `${name}, table ${times}` : name);
  }

  // ---- apps

  const apps = {};
  let showRuns = () => []; // set by the trajectories: returns buttons for those that a test takes

  // The process map: nodes are tools, edges say what came right after what.
  apps["process-map"] = (root, data) => {
    const START = -1, END = -2;
    const name = (i) => (i === START ? "start" : i === END ? "end" : data.tools[i].tool);
    const edges = data.edges.map(([from, to, count, runs, parallel, gap]) => ({ from, to, count, runs, parallel, gap }));
    const all = edges.reduce((sum, e) => sum + e.count, 0);

    // shown returns the commonest edges that make up a share of all steps.
    const shown = (share) => {
      const out = [];
      let sum = 0;
      for (const e of edges) {
        if (out.length > 0 && sum >= share * all) break;
        out.push(e);
        sum += e.count;
      }
      return { edges: out, sum };
    };
    let share = 0.8;
    while (share > 0.1 && shown(share).edges.length > 30) share -= 0.05;

    const slider = make("input", { type: "range", min: 5, max: 100, step: 1, value: Math.round(share * 100) });
    const metric = make("select", {},
      make("option", { value: "count" }, "how often"),
      make("option", { value: "runs" }, "in how many trajectories"),
      make("option", { value: "gap" }, "median time between"));
    const tool = make("select", {}, make("option", { value: "" }, "none"));
    data.tools.forEach((t, i) => tool.append(make("option", { value: i }, short(t.tool, 60))));
    const said = make("span", { class: "count", role: "status" });
    const box = make("div", { class: "map", tabindex: 0, role: "region", "aria-label": "Process map" });
    const details = make("div", { class: "details", "aria-live": "polite" });
    let zoom = 1;
    const zoomed = (by) => { zoom = Math.min(2, Math.max(0.4, zoom * by)); show(); };
    root.append(make("div", { class: "controls" },
      ...labelled("share of steps", slider), said, ...labelled("arrows say", metric), ...labelled("choose", tool),
      make("button", { type: "button", "aria-label": "zoom in", onclick: () => zoomed(1.25) }, "+"),
      make("button", { type: "button", "aria-label": "zoom out", onclick: () => zoomed(0.8) }, "−")),
      make("div", { class: "map-and-details" }, box, details));

    const pen = document.createElement("canvas").getContext("2d");
    pen.font = '12px system-ui, "Liberation Sans", Arial, sans-serif';
    // fitted returns as much of a text as a width has room for.
    const fitted = (text, width) => {
      let n = text.length;
      while (n > 2 && pen.measureText(short(text, n)).width > width) n--;
      return short(text, n);
    };
    // wrapped breaks a long name between its words, near the middle.
    const wrapped = (text) => {
      if (text.length < 14) return [text];
      const breaks = [...text.matchAll(/[_\-.:/ ]/g)].map((m) => m.index + 1).filter((i) => i < text.length);
      if (breaks.length === 0) return [text];
      const at = breaks.reduce((a, b) => (Math.abs(b - text.length / 2) < Math.abs(a - text.length / 2) ? b : a));
      return [text.slice(0, at), text.slice(at)];
    };
    const label = (e) => (metric.value === "runs" ? number(e.runs) : metric.value === "gap" ? (e.gap == null ? "" : seconds(e.gap)) : number(e.count));
    const failed = (t) => (t.calls_with_status ? percent(t.failed, t.calls_with_status) : "not known");

    let layout = null, chosen = null;
    const arrange = () => {
      const { edges: now, sum } = shown(slider.value / 100);
      said.textContent = `${countOf(now.length, "kind")}, ${percent(sum, all)} of all steps`;
      const graph = new dagre.graphlib.Graph({ multigraph: true });
      graph.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 44, marginx: 8, marginy: 8 });
      graph.setDefaultEdgeLabel(() => ({}));
      for (const i of new Set(now.flatMap((e) => [e.from, e.to]))) {
        const lines = wrapped(short(name(i), 36));
        graph.setNode(i, { width: Math.max(...lines.map((l) => pen.measureText(l).width)) + 18, height: i < 0 ? 24 : 22 + 15 * lines.length, tool: i, lines });
      }
      now.forEach((e, k) => graph.setEdge(e.from, e.to, { edge: e, width: 30, height: 12, labelpos: "c" }, `e${k}`));
      dagre.layout(graph);
      layout = { graph, now, most: now[0]?.count || 1 };
      // Zoomed out as far as it fits, and its letters stay readable.
      zoom = Math.min(1, Math.max(0.55, (box.clientWidth - 4) / graph.graph().width));
      show();
    };
    const show = () => {
      const { graph, now, most } = layout, { width, height } = graph.graph();
      const at = (p) => `${(p.x * zoom).toFixed(1)} ${(p.y * zoom).toFixed(1)}`;
      const svg = draw("svg", { width: Math.ceil(width * zoom), height: Math.ceil(height * zoom), viewBox: `0 0 ${Math.ceil(width * zoom)} ${Math.ceil(height * zoom)}` });
      const names = [];
      for (const id of graph.edges()) {
        const { points: all, edge: e } = graph.edge(id);
        const node = graph.node(id.v), wide = node.width * Math.min(1, Math.max(zoom, 0.8)) / zoom / 2; // a step to itself is a loop at the right
        const points = id.v !== id.w ? all : [[wide, -10], [wide + 26, -14], [wide + 26, 14], [wide, 10]].map(([x, y]) => ({ x: node.x + x, y: node.y + y }));
        const end = points[points.length - 1], before = points[points.length - 2];
        const long = Math.hypot(end.x - before.x, end.y - before.y) || 1;
        const dx = ((end.x - before.x) / long) * 8, dy = ((end.y - before.y) / long) * 8;
        let path = `M${at(points[0])}`;
        for (let i = 1; i < points.length - 1; i++) {
          const middle = { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
          path += `Q${at(points[i])} ${at(i === points.length - 2 ? end : middle)}`;
        }
        const g = draw("g", { class: "edge", onclick: () => step(e) },
          draw("path", { d: path, "stroke-width": (1 + 5 * Math.sqrt(e.count / most)).toFixed(1) }),
          draw("path", { d: path, class: "reach" }),
          draw("path", { class: "head", d: `M${at(end)}l${(-dx - dy * 0.6).toFixed(1)} ${(-dy + dx * 0.6).toFixed(1)}l${(dy * 1.2).toFixed(1)} ${(-dx * 1.2).toFixed(1)}z` }),
          draw("title", {}, `${name(e.from)} → ${name(e.to)}: ${countOf(e.count, "time")}`));
        g.dataset.from = e.from;
        g.dataset.to = e.to;
        svg.append(g);
        const middle = id.v === id.w ? { x: node.x + wide + 24, y: node.y } : points[Math.floor(points.length / 2)];
        if (zoom > 0.5) names.push(draw("text", { class: "label", x: (middle.x * zoom).toFixed(1), y: (middle.y * zoom + 4).toFixed(1) }, label(e)));
      }
      svg.append(...names);
      for (const id of graph.nodes()) {
        const n = graph.node(id), t = data.tools[n.tool];
        const w = n.width * Math.min(1, Math.max(zoom, 0.8)), h = n.tool < 0 ? 22 : n.height - 2;
        const failing = t && t.calls_with_status && t.failed / t.calls_with_status >= 0.05;
        const x = n.x * zoom, y = n.y * zoom;
        const g = draw("g", { class: `node${n.tool < 0 ? " end" : ""}${failing ? " failing" : ""}`, role: "button", tabindex: 0, onclick: () => choose(n.tool), onkeydown: (ev) => {
          if (ev.key !== "Enter" && ev.key !== " ") return;
          ev.preventDefault();
          choose(n.tool);
          box.querySelector(`[data-tool="${n.tool}"]`)?.focus();
        } },
          draw("rect", { x: (x - w / 2).toFixed(1), y: (y - h / 2).toFixed(1), width: w.toFixed(1), height: h, rx: n.tool < 0 ? 11 : 4 }),
          ...n.lines.map((l, k) => draw("text", { x: x.toFixed(1), y: (n.tool < 0 ? y + 4 : y - h / 2 + 15 * (k + 1)).toFixed(1) }, fitted(l, w - 6))),
          draw("title", {}, name(n.tool)));
        if (t) g.append(draw("text", { class: "count-of", x: x.toFixed(1), y: (y + h / 2 - 5).toFixed(1) }, fitted(failing ? `${number(t.calls)}, ${failed(t)} fail` : number(t.calls), w - 4)));
        g.dataset.tool = n.tool;
        svg.append(g);
      }
      box.replaceChildren(svg);
      mark();
    };
    // mark shows what is chosen: a tool, or a step.
    const mark = () => {
      for (const g of box.querySelectorAll("g")) {
        const d = g.dataset, edge = d.tool === undefined;
        let is = false, near = false;
        if (chosen?.edge) {
          is = edge && d.from == chosen.edge.from && d.to == chosen.edge.to;
          near = is || d.tool == chosen.edge.from || d.tool == chosen.edge.to;
        } else if (chosen) {
          is = edge ? d.from == chosen.tool || d.to == chosen.tool : d.tool == chosen.tool;
          near = is || (!edge && edges.some((e) => (e.from == chosen.tool && e.to == d.tool) || (e.to == chosen.tool && e.from == d.tool)));
        }
        g.classList.toggle("chosen", is);
        g.classList.toggle("apart", chosen != null && !near);
      }
    };
    const steps = (title, list, of, whole) => {
      const rows = make("tbody");
      for (const e of list.slice(0, 6)) {
        rows.append(make("tr", {}, make("td", {}, make("code", {}, short(name(of(e)), 40))), make("td", { class: "r" }, number(e.count)), make("td", { class: "r" }, percent(e.count, whole))));
      }
      const head = ["tool", "times", "share"].map((h, i) => make("th", { scope: "col", class: i ? "r" : null }, h));
      return [make("h3", {}, title), make("table", {}, make("thead", {}, make("tr", {}, ...head)), rows)];
    };
    const fields = (pairs) => make("dl", {}, ...pairs.flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, v)]));
    const examples = (takes) => {
      const found = showRuns(takes);
      return found.length ? [make("h3", {}, "Trajectories"), make("p", {}, ...found)] : [];
    };
    const choose = (i) => {
      chosen = i == null ? null : { tool: i };
      tool.value = i == null || i < 0 ? "" : i;
      mark();
      if (i == null) return details.replaceChildren(make("p", {}, "Choose a tool or an arrow to see its figures and trajectories. A thick red frame: at least 5 % of the calls failed."));
      const from = edges.filter((e) => e.from === i), into = edges.filter((e) => e.to === i);
      if (i < 0) return details.replaceChildren(...steps(i === START ? "First calls" : "Last calls", i === START ? from : into, (e) => (i === START ? e.to : e.from), data.runs));
      const t = data.tools[i], facts = [["calls", number(t.calls)], ["trajectories", `${number(t.trajectories)} of ${number(data.runs)}`], ["failed", failed(t)], ["median time", seconds(t.median_seconds)]];
      if (data.usd[t.tool] != null) facts.push(["cost of its turns", `${data.usd[t.tool].toFixed(2)} USD`]);
      details.replaceChildren(make("h3", {}, make("code", {}, t.tool)), fields(facts),
        ...steps("Before", into, (e) => e.from, t.calls), ...steps("After", from, (e) => e.to, t.calls), ...examples((calls) => calls.includes(t.tool)));
    };
    const step = (e) => {
      chosen = { edge: e };
      mark();
      details.replaceChildren(make("h3", {}, make("code", {}, name(e.from)), " → ", make("code", {}, name(e.to))),
        fields([["times", number(e.count)], ["trajectories", `${number(e.runs)} of ${number(data.runs)}`], ["in one turn", number(e.parallel)], ["median time between", seconds(e.gap)]]),
        ...examples((calls) => calls.some((c, i) => (e.from === START ? i === 0 : calls[i - 1] === name(e.from)) && c === name(e.to)) || (e.to === END && calls.at(-1) === name(e.from))));
    };
    slider.addEventListener("change", arrange);
    slider.addEventListener("input", () => { said.textContent = `${slider.value} %`; });
    metric.addEventListener("change", show);
    tool.addEventListener("change", () => choose(tool.value === "" ? null : Number(tool.value)));
    choose(null);
    arrange();
  };

  // Trajectories: a row for each turn, with bars for the model, for tools, and for waiting.
  apps.timelines = (root, data) => {
    const outcomes = ["outcome not recorded", "success", "failure"];
    const turnsShown = 40;
    const facts = (run) => {
      const out = [countOf(run.turns.length + run.left, "turn"), countOf(run.calls, "call")];
      if (run.failed) out.push(`${number(run.failed)} failed`);
      if (run.usd) out.push(`${run.usd.toFixed(run.usd < 0.1 ? 4 : 2)} USD`);
      else if (run.tokens) out.push(countOf(run.tokens, "token"));
      if (run.length) out.push(seconds(run.length));
      out.push(outcomes[run.outcome]);
      return out.join(", ");
    };
    // placed returns the bars of a run as [turn, from, to, kind, title]: in time where it is
    // recorded, else in order.
    const placed = (run) => {
      const bars = [];
      const timed = run.turns.length > 0 && run.turns.every(([, , start, end]) => start >= 0 && end >= start);
      let last = 0;
      run.turns.forEach(([, tokens, start, end, calls], i) => {
        if (!timed) {
          bars.push([i, i, i + 0.5, "s2", "the model"]);
          calls.forEach(([t, status], k) => bars.push([i, i + 0.5 + k / (2 * calls.length), i + 0.5 + (k + 1) / (2 * calls.length), status === 2 ? "bad" : "tool", data.tools[t]]));
          last = i + 1;
          return;
        }
        if (start > last && i > 0) bars.push([i, last, start, "wait", `waiting, ${seconds((start - last) / 1000)}`]);
        bars.push([i, start, end, "s2", `the model, ${seconds((end - start) / 1000)}`]);
        last = Math.max(last, end);
        for (const [t, status, from, to] of calls) {
          if (from < 0 || to < from) continue;
          bars.push([i, from, to, status === 2 ? "bad" : "tool", `${data.tools[t]}${status === 2 ? ", failed" : ""}, ${seconds((to - from) / 1000)}`]);
          last = Math.max(last, to);
        }
      });
      return { bars, timed, end: Math.max(last, timed ? run.length * 1000 : 0) || 1 };
    };
    const viewed = (title, run) => {
      const { bars, timed, end } = placed(run);
      const list = make("ul");
      const row = (i) => {
        const [user, tokens, start, stop, calls] = run.turns[i];
        const counts = new Map();
        for (const [t, status] of calls) {
          const text = data.tools[t] + (status === 2 ? " failed" : "");
          counts.set(text, (counts.get(text) || 0) + 1);
        }
        const label = make("span", {}, `${i + 1} `, ...(user ? ["user, then "] : []));
        if (calls.length === 0) label.append("answer");
        [...counts].slice(0, 3).forEach(([text, n], k) => label.append(k ? ", " : "", make("code", {}, short(text, 34)), n > 1 ? ` ×${n}` : ""));
        if (counts.size > 3) label.append(`, ${counts.size - 3} more`);
        const svg = draw("svg", { class: "bar", "aria-hidden": "true" });
        for (const [turn, from, to, kind, text] of bars) {
          if (turn === i) svg.append(draw("rect", { class: kind, x: `${((100 * from) / end).toFixed(2)}%`, width: `${Math.max((100 * (to - from)) / end, 0.25).toFixed(2)}%`, y: 2, height: 14 }, draw("title", {}, text)));
        }
        return make("li", {}, label, svg, make("span", {}, timed ? seconds((stop - start) / 1000) : tokens ? `${number(tokens)} tokens` : ""));
      };
      const add = (from, to) => { for (let i = from; i < Math.min(to, run.turns.length); i++) list.append(row(i)); };
      add(0, turnsShown);
      const figure = make("figure", { class: "chart trace" },
        make("figcaption", {}, title, ": ", make("code", {}, short(run.id, 60)), make("span", { class: "count" }, ` ${facts(run)}${timed ? "" : "; times are not recorded, so turns are drawn in order"}`)), list);
      if (run.turns.length > turnsShown) {
        const more = make("button", { type: "button", onclick: () => { add(turnsShown, run.turns.length); more.remove(); } }, `${number(run.turns.length - turnsShown)} more turns`);
        figure.append(more);
      }
      if (run.left) figure.append(make("p", { class: "notes" }, `${number(run.left)} more turns are not in the page.`));
      return figure;
    };
    const key = (kind, text) => make("span", {}, draw("svg", { class: "swatch", "aria-hidden": "true" }, draw("rect", { class: kind, width: 12, height: 12 })), ` ${text}`);
    root.append(make("p", { class: "legend" }, key("s2", "the model"), key("tool", "a tool"), key("bad", "a tool that failed"), key("wait", "waiting")));
    const chosen = [];
    for (const [title, i] of [["The most expensive", data.dearest], ["The most expensive that failed", data.failed], ["A median one", data.median]]) {
      if (i < 0 || chosen.includes(i)) continue;
      chosen.push(i);
      root.append(viewed(title, data.runs[i]));
    }
    if (data.runs.length <= chosen.length) return;

    const filter = make("input", { type: "search", placeholder: "trajectory or tool" });
    const outcome = make("select", {}, make("option", { value: "" }, "all"), ...outcomes.map((o, i) => make("option", { value: i }, o)));
    const order = make("select", {}, ...(data.runs.some((r) => r.usd) ? [make("option", { value: "usd" }, "cost")] : []), make("option", { value: "tokens" }, "tokens"), make("option", { value: "calls" }, "calls"), make("option", { value: "failed" }, "failed calls"));
    const said = make("span", { class: "count", role: "status" });
    const list = make("div"), more = make("button", { type: "button" }, "more"), view = make("div");
    root.append(make("div", { class: "runs" }, make("h3", {}, "Other trajectories"),
      make("div", { class: "controls" }, ...labelled("find", filter), ...labelled("outcome", outcome), ...labelled("by", order), said), list, more, view));
    const open = (run) => { view.replaceChildren(viewed("Trajectory", run)); };
    const link = (run, after) => make("button", { type: "button", class: "link", onclick: after }, make("code", {}, short(run.id, 40)));
    const line = (run) => {
      const details = make("details", { class: "run" }, make("summary", {}, make("code", {}, short(run.id, 48)), ` ${facts(run)}`));
      details.addEventListener("toggle", () => { if (details.open && !details.querySelector("figure")) details.append(viewed("Trajectory", run)); });
      return details;
    };
    let matching = [], at = 0;
    const next = () => {
      list.append(...matching.slice(at, at + 10).map(line));
      at = Math.min(at + 10, matching.length);
      more.hidden = at >= matching.length;
      said.textContent = `${number(at)} of ${countOf(matching.length, "trajectory")} shown; ${number(data.runs.length)} are in the page`;
    };
    const select = () => {
      const want = filter.value.trim().toLowerCase();
      const tools = new Set(data.tools.flatMap((t, i) => (t.toLowerCase().includes(want) ? [i] : [])));
      matching = data.runs.filter((r) => (outcome.value === "" || r.outcome === Number(outcome.value)) &&
        (want === "" || r.id.toLowerCase().includes(want) || r.turns.some(([, , , , calls]) => calls.some(([t]) => tools.has(t)))));
      matching = matching.map((r, i) => [r, i]).sort((a, b) => b[0][order.value] - a[0][order.value] || a[1] - b[1]).map((x) => x[0]);
      at = 0;
      list.replaceChildren();
      next();
    };
    showRuns = (takes) => {
      const found = data.runs.filter((r) => takes(r.turns.flatMap(([, , , , calls]) => calls.map(([t]) => data.tools[t])))).slice(0, 5);
      return found.flatMap((run) => [link(run, () => { open(run); view.scrollIntoView({ block: "center" }); }), " "]);
    };
    for (const control of [filter, outcome, order]) control.addEventListener("input", select);
    more.addEventListener("click", next);
    select();
  };

  for (const root of document.querySelectorAll("[data-app]")) {
    apps[root.dataset.app](root, JSON.parse(root.querySelector('script[type="application/json"]').textContent));
  }
})();
