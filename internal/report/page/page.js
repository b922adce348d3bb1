// What a report does where scripts run: tables that sort and filter, the process map,
// and timelines. Everything that it shows stands in the page as data or as a table, so
// that a reader without scripts misses convenience only. Text from traces is only ever
// set as text content.
(() => {
  "use strict";

  const make = (tag, attributes = {}, ...children) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes)) {
      if (k === "class") e.className = v;
      else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
      else if (v !== false && v != null) e.setAttribute(k, v === true ? "" : v);
    }
    for (const c of children) e.append(c);
    return e;
  };
  const number = (x) => x.toLocaleString("en-US");
  const countOf = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
  const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "unknown");
  const seconds = (s) => {
    if (s == null) return "not recorded";
    if (s < 1) return `${Math.round(s * 1000)} ms`;
    if (s < 120) return `${s.toFixed(1)} s`;
    if (s < 7200) return `${(s / 60).toFixed(1)} min`;
    return `${(s / 3600).toFixed(1)} h`;
  };
  const short = (s, n) => (s.length > n ? `${s.slice(0, n - 1)}…` : s);
  let ids = 0;
  const nextID = () => `x${++ids}`;

  // ---- tables

  // value returns what a cell sorts by: its number if it shows one.
  const value = (cell) => {
    const text = cell.textContent.trim();
    const m = /^[^\d-]*(-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)/.exec(text.replace(/^[$€]/, ""));
    return cell.classList.contains("r") && m ? Number(m[1].replaceAll(",", "")) : text.toLowerCase();
  };
  // Long tables show their first rows and a button for the rest; what is printed has all.
  const rowsShown = 10;
  const fold = (table) => {
    if (table.tBodies[0].rows.length <= rowsShown + 4) return;
    table.classList.add("folded");
    const button = make("button", { type: "button", class: "rest" }, `all ${number(table.tBodies[0].rows.length)} rows`);
    button.addEventListener("click", () => unfold(table));
    table.parentElement.after(button);
  };
  const unfold = (table) => {
    if (!table.classList.contains("folded")) return;
    table.classList.remove("folded");
    table.parentElement.nextElementSibling.remove();
  };
  const sortable = (table) => {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 2) return;
    const original = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((th, column) => {
      const button = make("button", { type: "button", class: "sort" });
      button.append(...th.childNodes);
      th.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = th.getAttribute("aria-sort");
        const next = { ascending: "descending", descending: null }[now] ?? (now ? null : "ascending");
        for (const other of heads) other.removeAttribute("aria-sort");
        let rows = original;
        if (now !== "descending") {
          th.setAttribute("aria-sort", next);
          const sign = next === "ascending" ? 1 : -1;
          rows = original
            .map((row, at) => ({ row, at, v: value(row.cells[column]) }))
            .sort((a, b) => {
              const one = typeof a.v, two = typeof b.v;
              if (one !== two) return one === "number" ? -1 : 1; // unknown ones last, either way
              return (a.v < b.v ? -sign : a.v > b.v ? sign : 0) || a.at - b.at;
            })
            .map((x) => x.row);
        }
        body.append(...rows);
      });
    });
    if (original.length < 12) return;
    fold(table);
    const title = table.caption ? table.caption.textContent : "this table";
    const left = make("span", { class: "count", role: "status" });
    const input = make("input", { type: "search", placeholder: "filter rows", "aria-label": `Filter rows of ${title}` });
    input.addEventListener("input", () => {
      unfold(table);
      const want = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of original) {
        row.hidden = want !== "" && !row.textContent.toLowerCase().includes(want);
        if (!row.hidden) shown++;
      }
      left.textContent = want ? `${number(shown)} of ${number(original.length)} rows` : "";
    });
    table.parentElement.before(make("div", { class: "tools-of-table" }, input, left));
  };
  for (const table of document.querySelectorAll(".table > table")) sortable(table);
  const regions = new Map(); // names, which have to differ
  for (const box of document.querySelectorAll(".table")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0; // so that the keyboard can scroll it
      box.setAttribute("role", "region");
      const name = box.querySelector("caption")?.textContent || box.closest("section")?.querySelector("h2")?.textContent || "table";
      const times = (regions.get(name) || 0) + 1;
      regions.set(name, times);
      box.setAttribute("aria-label", times > 1 ? `${name}, table ${times}` : name);
    }
  }

  // ---- apps

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const fields = (pairs) => {
    const list = make("dl");
    for (const [name, text] of pairs) list.append(make("dt", {}, name), make("dd", {}, text));
    return list;
  };

  // What graphs share: the size of a box, their style, and buttons to zoom.
  const pen = document.createElement("canvas").getContext("2d");
  const box = (lines) => {
    pen.font = "12px sans-serif";
    return { text: lines.join("\n"), width: 18 + Math.max(...lines.map((l) => pen.measureText(l).width)), height: 12 + 15 * lines.length };
  };
  const graphStyle = () => {
    const ink = colour("--ink"), faint = colour("--faint"), paper = colour("--paper"), band = colour("--band"), link = colour("--link"), bad = colour("--bad");
    return [
      { selector: "node", style: { shape: "round-rectangle", width: "data(width)", height: "data(height)", label: "data(text)", "text-wrap": "wrap", "text-valign": "center", "font-size": 12, "font-family": "sans-serif", color: ink, "background-color": band, "border-width": 1, "border-color": faint } },
      { selector: "node.end", style: { shape: "ellipse", "background-color": paper } },
      { selector: "node.failing", style: { "border-color": bad, "border-width": 3 } },
      { selector: "node.joined", style: { "border-style": "double", "border-width": 4 } },
      { selector: "edge", style: { width: "data(width)", label: "data(text)", "font-size": 10, color: ink, "text-background-color": paper, "text-background-opacity": 0.85, "text-background-padding": "1px", "line-color": faint, "target-arrow-color": faint, "target-arrow-shape": "triangle", "curve-style": "bezier", opacity: 0.8 } },
      { selector: "edge:loop", style: { "loop-direction": "90deg", "loop-sweep": "-50deg", "control-point-step-size": (e) => 0.6 * e.source().width() } },
      { selector: ".chosen", style: { "border-color": link, "border-width": 3, "line-color": link, "target-arrow-color": link, opacity: 1 } },
      { selector: ".apart", style: { opacity: 0.15 } },
    ];
  };
  const zoomers = (graph) => {
    const zoom = (by) => { const cy = graph(); cy.animate({ zoom: { level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } } }, { duration: 150 }); };
    return {
      closer: make("button", { type: "button", "aria-label": "zoom in", onclick: () => zoom(1.4) }, "+"),
      farther: make("button", { type: "button", "aria-label": "zoom out", onclick: () => zoom(1 / 1.4) }, "−"),
      fit: make("button", { type: "button", onclick: () => graph().fit(undefined, 20) }, "all of it"),
    };
  };

  const apps = {};

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
    while (share > 0.1 && shown(share).edges.length > 36) share -= 0.05;

    const shareID = nextID(), metricID = nextID(), toolID = nextID();
    const slider = make("input", { type: "range", id: shareID, min: 5, max: 100, step: 1, value: Math.round(share * 100) });
    const metric = make("select", { id: metricID },
      make("option", { value: "count" }, "how often"),
      make("option", { value: "runs" }, "in how many runs"),
      make("option", { value: "gap" }, "median time between"));
    const tool = make("select", { id: toolID }, make("option", { value: "" }, "none"));
    data.tools.map((t, i) => [t.tool, i]).sort((a, b) => (a[0] < b[0] ? -1 : 1))
      .forEach(([text, i]) => tool.append(make("option", { value: i }, short(text, 60))));
    const said = make("span", { class: "count", role: "status" });
    const { closer, farther, fit } = zoomers(() => cy);
    const canvas = make("div", { class: "map", role: "img", "aria-label": "Process map: the tables below say the same" });
    const details = make("div", { class: "details", role: "region", "aria-label": "Details of what is chosen in the map", "aria-live": "polite", tabindex: 0 });
    root.append(
      make("div", { class: "controls" },
        make("label", { for: shareID }, "steps shown "), slider,
        make("label", { for: metricID }, " on the arrows "), metric,
        make("label", { for: toolID }, " tool "), tool, closer, farther, fit, said),
      make("div", { class: "map-and-details" }, canvas, details));

    const label = (e) => (metric.value === "gap" ? (e.gap == null ? "" : seconds(e.gap)) : number(e[metric.value]));
    const failing = (t) => t.failed / t.calls >= 0.05;
    const failed = (t) => {
      const unknown = t.calls - t.calls_with_status;
      if (unknown === t.calls) return "not known";
      return `${number(t.failed)} (${percent(t.failed, t.calls)} of its calls)` + (unknown ? `; of ${number(unknown)} the traces do not say` : "");
    };
    let cy;
    const draw = () => {
      const { edges: now, sum } = shown(slider.value / 100);
      const touched = new Set(now.flatMap((e) => [e.from, e.to]));
      said.textContent = `${slider.value} %: ${number(now.length)} of ${number(edges.length)} kinds of step, ${percent(sum, all)} of all steps`;
      const most = Math.max(1, ...now.map((e) => e.count));
      const elements = [...touched].sort((a, b) => a - b).map((i) => ({
        data: { id: `n${i}`, tool: i, ...box(i < 0 ? [name(i)] : [short(name(i), 28), countOf(data.tools[i].calls, "call")]) },
        classes: i < 0 ? "end" : failing(data.tools[i]) ? "failing" : "",
      }));
      now.forEach((e, k) => elements.push({
        data: { id: `e${k}`, source: `n${e.from}`, target: `n${e.to}`, text: label(e), width: 1 + 5 * Math.sqrt(e.count / most), edge: k },
      }));
      cy?.destroy();
      cy = cytoscape({
        container: canvas,
        elements,
        userZoomingEnabled: false, // so that the page scrolls; buttons zoom
        style: graphStyle(),
        layout: { name: "dagre", rankDir: "TB", nodeSep: 30, rankSep: 45, animate: false },
      });
      cy.on("tap", "node", (ev) => choose(ev.target.data("tool")));
      cy.on("tap", "edge", (ev) => step(now[ev.target.data("edge")], ev.target));
      cy.on("tap", (ev) => { if (ev.target === cy) choose(null); });
      if (tool.value !== "") mark(Number(tool.value));
    };
    const mark = (i) => {
      cy.elements().removeClass("chosen apart");
      if (i == null) return;
      const node = cy.getElementById(`n${i}`);
      if (node.empty()) return;
      cy.elements().not(node.closedNeighborhood()).addClass("apart");
      node.connectedEdges().union(node).addClass("chosen");
    };
    const steps = (list, of, whole) => {
      const rows = make("tbody"), timed = list.some((e) => e.gap != null);
      for (const e of list.slice(0, 8)) {
        rows.append(make("tr", {},
          make("td", {}, make("code", {}, short(name(of(e)), 40))), make("td", { class: "r" }, number(e.count)),
          make("td", { class: "r" }, percent(e.count, whole)), ...(timed ? [make("td", { class: "r" }, e.gap == null ? "" : seconds(e.gap))] : [])));
      }
      return make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "tool"), make("th", { scope: "col", class: "r" }, "times"),
        make("th", { scope: "col", class: "r" }, "share"), ...(timed ? [make("th", { scope: "col", class: "r" }, "median time")] : []))), rows);
    };
    const nothing = () => details.replaceChildren(make("p", {}, "Choose a tool or an arrow to see what is behind it. A thick red frame is a tool of which at least 5 % of the calls failed."));
    const choose = (i) => {
      mark(i);
      tool.value = i == null || i < 0 ? "" : i;
      if (i == null) return nothing();
      const from = edges.filter((e) => e.from === i), into = edges.filter((e) => e.to === i);
      if (i < 0) {
        return details.replaceChildren(make("h3", {}, i === START ? "How runs begin" : "How runs end"), steps(i === START ? from : into, (e) => (i === START ? e.to : e.from), data.runs));
      }
      const t = data.tools[i];
      const facts = [
        ["calls", number(t.calls)], ["in runs", `${number(t.trajectories)} of ${number(data.runs)}`],
        ["failed", failed(t)],
        ["median duration", seconds(t.median_seconds)],
      ];
      const usd = data.usd[t.tool];
      if (usd != null) facts.push(["money of its turns, at most", `${usd.toFixed(2)} USD`]);
      details.replaceChildren(make("h3", {}, make("code", {}, t.tool)), fields(facts),
        make("h4", {}, "Before it"), steps(into, (e) => e.from, t.calls), make("h4", {}, "After it"), steps(from, (e) => e.to, t.calls));
    };
    const step = (e, element) => {
      mark(null);
      element.addClass("chosen");
      details.replaceChildren(make("h3", {}, make("code", {}, name(e.from)), " → ", make("code", {}, name(e.to))), fields([
        ["times", number(e.count)], ["in runs", `${number(e.runs)} of ${number(data.runs)}`],
        ["in one turn", number(e.parallel)], ["median time between", seconds(e.gap)],
      ]));
    };
    slider.addEventListener("change", draw);
    slider.addEventListener("input", () => { said.textContent = `${slider.value} %`; });
    metric.addEventListener("change", draw);
    tool.addEventListener("change", () => choose(tool.value === "" ? null : Number(tool.value)));
    dark.addEventListener("change", draw);
    nothing();
    draw();
  };

  // Timelines: one row a run, one mark a call.
  apps.timelines = (root, data) => {
    const hue = (i) => Math.round((i * 137.508) % 360);
    const outcomes = ["outcome unknown", "success", "failure"];
    const filterID = nextID(), outcomeID = nextID(), orderID = nextID();
    const filter = make("input", { type: "search", id: filterID, placeholder: "run or tool" });
    const outcome = make("select", { id: outcomeID }, make("option", { value: "" }, "all"), ...outcomes.map((o, i) => make("option", { value: i }, o)));
    const order = make("select", { id: orderID },
      make("option", { value: "id" }, "run"), make("option", { value: "calls" }, "most calls"),
      make("option", { value: "failed" }, "most failed calls"), make("option", { value: "tokens" }, "most tokens"));
    const said = make("span", { class: "count", role: "status" });
    const list = make("div", { class: "timelines" });
    const more = make("button", { type: "button" }, "more");
    root.append(make("div", { class: "controls" },
      make("label", { for: filterID }, "find "), filter, make("label", { for: outcomeID }, " outcome "), outcome,
      make("label", { for: orderID }, " by "), order, said), list, more);

    const legend = make("p", { class: "legend" });
    data.tools.slice(0, 24).forEach((t, i) => {
      const block = make("i");
      block.style.setProperty("--hue", hue(i));
      legend.append(make("span", {}, block, short(t, 32)));
    });
    if (data.tools.length > 24) legend.append(make("span", {}, `and ${countOf(data.tools.length - 24, "more tool")}`));
    list.before(legend);

    const line = (run) => {
      const bar = make("span", { class: "bar", "aria-hidden": "true" });
      for (const turn of run.turns) {
        if (turn.user) bar.append(make("i", { class: "user", title: "a user message" }));
        const group = make("span", { class: "turn" });
        if (turn.calls.length === 0) group.append(make("i", { class: "answer", title: "an answer without a call" }));
        for (const [t, status] of turn.calls) {
          const i = make("i", { class: status === 2 ? "failed" : "", title: data.tools[t] + (status === 2 ? ": failed" : "") });
          i.style.setProperty("--hue", hue(t));
          group.append(i);
        }
        bar.append(group);
      }
      const facts = [countOf(run.calls, "call")];
      if (run.failed) facts.push(`${number(run.failed)} failed`);
      if (run.tokens) facts.push(countOf(run.tokens, "token"));
      if (run.length) facts.push(seconds(run.length));
      if (run.outcome) facts.push(outcomes[run.outcome]);
      const details = make("details", {}, make("summary", {}, make("code", {}, short(run.id, 48)), ` ${facts.join(", ")}`, bar));
      details.addEventListener("toggle", () => {
        if (!details.open || details.querySelector("ol")) return;
        const ol = make("ol");
        for (const turn of run.turns) {
          const li = make("li");
          if (turn.user) li.append(make("em", {}, "user message; "));
          if (turn.calls.length === 0) li.append("answer without a call");
          turn.calls.forEach(([t, status, took], k) => {
            if (k) li.append(", ");
            li.append(make("code", {}, data.tools[t]));
            if (status === 2) li.append(" failed");
            if (took != null) li.append(` (${seconds(took)})`);
          });
          if (turn.tokens) li.append(`; ${number(turn.tokens)} tokens`);
          ol.append(li);
        }
        details.append(ol);
        if (run.left) details.append(make("p", {}, `${number(run.left)} more turns are not shown.`));
      });
      return details;
    };
    let chosen = [], at = 0;
    const next = () => {
      list.append(...chosen.slice(at, at + 25).map(line));
      at = Math.min(at + 25, chosen.length);
      more.hidden = at >= chosen.length;
      said.textContent = `${number(at)} shown of ${number(chosen.length)} chosen, of ${number(data.runs.length)} in the sample`;
    };
    const choose = () => {
      const want = filter.value.trim().toLowerCase();
      const tools = new Set(data.tools.flatMap((t, i) => (t.toLowerCase().includes(want) ? [i] : [])));
      chosen = data.runs.filter((r) => (outcome.value === "" || r.outcome === Number(outcome.value)) &&
        (want === "" || r.id.toLowerCase().includes(want) || r.turns.some((turn) => turn.calls.some(([t]) => tools.has(t)))));
      if (order.value !== "id") chosen = chosen.map((r, i) => [r, i]).sort((a, b) => b[0][order.value] - a[0][order.value] || a[1] - b[1]).map((x) => x[0]);
      at = 0;
      list.replaceChildren();
      next();
    };
    for (const control of [filter, outcome, order]) control.addEventListener("input", choose);
    more.addEventListener("click", next);
    choose();
  };

  for (const root of document.querySelectorAll("[data-app]")) {
    apps[root.dataset.app](root, JSON.parse(root.querySelector('script[type="application/json"]').textContent));
  }
})();
