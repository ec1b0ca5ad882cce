// SPDX-License-Identifier: Apache-2.0
// The page: a list of cameras, and one camera. What it shows is in the fragment of the address, so a link leads back to it.
"use strict";

const kMinute = 60e3, kHour = 3600e3, kDay = 86400e3;
const kPeriods = {hour: kHour, day: kDay, week: 7 * kDay, month: 30 * kDay, year: 365 * kDay};
const kStates = {online: "● online", stalled: "▲ without samples", lost: "▲ lost", not_writing: "▲ not storing", ended: "■ ended", archive: "▤ archive"};
const kViews = {overlay: "Overlay", depth: "Depth", merge_map: "Merge map", frame: "Picture"};  // the first that is there is shown first
const kRefresh = 15e3;

const $ = id => document.getElementById(id);
const kSvg = "http://www.w3.org/2000/svg";

// An element with attributes and children. Texts become text nodes: a name is never read as HTML.
function put(element, attributes = {}, ...children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children.filter(child => child !== null));
  return element;
}
const make = (tag, attributes, ...children) => put(document.createElement(tag), attributes, ...children);
const draw = (tag, attributes, ...children) => put(document.createElementNS(kSvg, tag), attributes, ...children);

// Replaces the children only if they differ: the focus and a scrolled list stay where they are.
function show(parent, ...children) {
  const fresh = parent.cloneNode(false);
  fresh.append(...children.filter(child => child !== null));
  if (fresh.innerHTML === parent.innerHTML) return;
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : "";
  parent.replaceChildren(...fresh.childNodes);
  if (focused && $(focused)) $(focused).focus();
}

// -- words -------------------------------------------------------------------------------------------------------------

const format = options => {
  const made = new Intl.DateTimeFormat(undefined, options);
  return time => made.format(time);
};
const date = {
  full: format({dateStyle: "medium", timeStyle: "short"}),
  second: format({dateStyle: "medium", timeStyle: "medium"}),
  clock: format({hour: "2-digit", minute: "2-digit"}),
  weekday: format({weekday: "short", day: "numeric"}),
  day: format({day: "numeric", month: "short"}),
  dayClock: format({day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"}),
  dayOfYear: format({dateStyle: "medium"}),
  month: format({month: "short"}),
  monthOfYear: format({month: "short", year: "numeric"}),
};

function ago(ms) {
  for (const [unit, length] of [["day", kDay], ["hour", kHour], ["minute", kMinute]])
    if (ms >= 2 * length) return `${Math.floor(ms / length)} ${unit}s ago`;
  return ms < 0 ? "in the future" : `${Math.floor(ms / 1e3)} s ago`;
}

const number = (value, digits) => value === null || value === undefined ? "–" : value.toLocaleString(undefined, {
  minimumFractionDigits: digits, maximumFractionDigits: digits});
const percent = (share, digits = 1) => `${number(100 * share, digits)} %`;
const light = sample => sample.night === null ? null : sample.night ? "night" : "day";
const byArea = sample => Object.entries(sample.area_fraction).filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
const picture = (id, small = true) => `/api/snapshot/${encodeURIComponent(id)}${small ? "?small" : ""}`;
const firstView = ids => Object.keys(kViews).find(view => ids[view]);

// -- what is shown ------------------------------------------------------------------------------------------------------

const state = new URLSearchParams(location.hash.slice(1));
let data = null;       // of /api/cameras
let chosen = null;     // the stored picture that was chosen in place of the last one
let view = null;       // of kViews
let series = null;     // of /api/series
let cursor = -1;       // a row of it
let timer = 0;

const link = changes => {
  const next = new URLSearchParams(state);
  for (const [key, value] of Object.entries(changes)) value === null ? next.delete(key) : next.set(key, value);
  return `#${next}`;
};
const go = changes => { location.hash = link(changes); };
const camera = () => data.cameras.find(one => one.name === state.get("camera"));
const period = () => kPeriods[state.get("period")] ? state.get("period") : "day";

// The end of the chart: what was chosen, else now, or for what is over its last sample.
function endOf(one) {
  if (state.has("to")) return Number(state.get("to"));
  return one.state === "archive" || data.now_ms - one.last_ms > kPeriods[period()] ? one.last_ms + 1 : data.now_ms;
}

class Refused extends Error {}

async function get(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ""));
  const answer = await fetch(`${path}?${query}`);
  if (answer.status === 401) throw new Refused();
  const json = await answer.json();
  if (!answer.ok) throw new Error(json.error);
  return json;
}

function complain(...lines) {
  $("alert").hidden = lines.length === 0;
  show($("alert"), ...lines.map(line => make("p", {}, line)));
}

async function refresh() {
  clearTimeout(timer);
  let problems = [];
  try {
    data = await get("/api/cameras");
    problems = data.problems;
    $("login").hidden = true;
    complain(...problems);
    await render();
  } catch (error) {
    if (error instanceof Refused) {
      $("login").hidden = false;
      $("overview").hidden = $("camera").hidden = true;
      $("token").focus();
      return;
    }
    const away = error instanceof TypeError || error instanceof SyntaxError;  // a proxy may answer with HTML
    complain(...problems, away ? "The server does not answer. Trying again." : error.message);
  }
  timer = setTimeout(refresh, kRefresh);
}

async function render() {
  if (data.cameras.length === 1 && !state.has("camera")) state.set("camera", data.cameras[0].name);
  const one = camera();
  $("overview").hidden = one !== undefined;
  $("camera").hidden = one === undefined;
  $("back").hidden = data.cameras.length === 1;
  document.title = one ? one.title : "Cameras";
  const counts = Object.keys(kStates).map(each => [data.cameras.filter(camera => camera.state === each).length, each]);
  $("summary").textContent = counts.filter(([count]) => count > 0).map(([count, each]) => `${count} ${kStates[each].slice(2)}`).join(", ");
  if (one)
    await renderCamera(one);
  else
    renderOverview();
}

function stateChip(one) {
  return make("span", {class: `state ${one.state}`}, kStates[one.state] ?? one.state);
}

function renderOverview() {
  if (data.cameras.length === 0) {
    show($("cameras"), make("li", {class: "quiet"}, "There is no camera in the database yet."));
    return;
  }
  show($("cameras"), ...data.cameras.map(one => {
    const ids = one.pictures[0] ?? {};
    const id = ids[firstView(ids)];
    const sample = one.sample;
    return make("li", {}, make("a", {href: `#${new URLSearchParams({camera: one.name})}`},
      id ? make("img", {class: "shot", src: picture(id), alt: ""}) : make("div", {class: "shot none"}, "no picture is stored"),
      make("div", {class: "text"},
        make("div", {class: "name"}, make("strong", {}, one.title), stateChip(one)),
        make("p", {class: "quiet"}, sample ? [
          one.state === "archive" ? date.full(one.last_ms) : ago(data.now_ms - one.last_ms), light(sample),
          sample.tokens === null ? null : `${number(sample.tokens, 0)} tokens`].filter(Boolean).join(" · ") : "no samples"),
        make("p", {class: "quiet"}, sample ? byArea(sample).slice(0, 3).map(([name, share]) => `${name} ${percent(share, 0)}`).join(", ") : ""))));
  }));
}

async function renderCamera(one) {
  $("camera-name").textContent = one.title;
  show($("camera-state"), stateChip(one));
  renderSample(one);
  renderPicture(one);
  renderControls(one);
  await renderPeriod(one);
}

function renderSample(one) {
  const sample = one.sample;
  const facts = {"Samples": one.last_ms ? `${number(one.samples, 0)} since ${date.dayOfYear(one.first_ms)}` : "none", "Model": one.model || "–"};
  if (sample) {
    const flags = data.quantities.filter(each => ["dark", "overexposed", "blurred", "fogged"].includes(each.key) && sample[each.key]);
    Object.assign(facts, {
      "Taken": `${date.second(sample.unix_ms)}${one.state === "archive" ? "" : `, ${ago(data.now_ms - sample.unix_ms)}`}`,
      "Light": light(sample) ?? "not known",
      "Tokens": sample.token_counts.map(count => number(count, 0)).join(" → ") || "–",
      "Merging": sample.reduce,
      "Inference": `${number(sample.inference_ms, 1)} ms`,
      "Picture": flags.map(each => each.label.toLowerCase()).join(", ") || "good",
    });
    for (const [name, head] of Object.entries(sample.states)) facts[name] = head.counted ?? "not sure yet";
  }
  const order = ["Taken", "Light", ...Object.keys(sample?.states ?? {}), "Picture", "Tokens", "Merging", "Inference", "Model", "Samples"];
  show($("facts"), ...order.filter(name => name in facts).flatMap(name => [make("dt", {}, name), make("dd", {}, facts[name])]));
  const areas = sample ? byArea(sample).slice(0, 8) : [];
  $("areas-title").hidden = areas.length === 0;
  show($("areas"), ...areas.map(([name, share]) => make("li", {}, make("span", {}, name), make("span", {}, percent(share)),
    draw("svg", {"aria-hidden": "true", viewBox: "0 0 100 1", preserveAspectRatio: "none"},
      draw("rect", {width: 100 * share, height: 1})))));
}

function renderPicture(one) {
  const ids = chosen ?? one.pictures[0];
  const views = ids ? Object.keys(kViews).filter(each => ids[each]) : [];
  if (!views.includes(view)) view = views[0];
  $("picture-title").textContent = chosen ? "Stored picture" : "Last picture";
  $("figure").hidden = views.length === 0;
  $("no-picture").hidden = views.length > 0;
  $("views").hidden = views.length < 2;
  segments("views", views.map(each => [each, kViews[each]]), view, value => { view = value; renderPicture(one); });
  const outlined = one.regions.filter(region => region.polygons);
  $("outlines-choice").hidden = outlined.length === 0 || views.length === 0;
  if (views.length === 0) return;
  const taken = Date.parse(ids.time);
  if ($("picture").getAttribute("src") !== picture(ids[view])) $("picture").src = picture(ids[view]);
  $("picture").alt = `${kViews[view]} of ${one.name}, ${date.full(taken)}`;
  show($("caption"), `${date.second(taken)} · `, make("a", {href: picture(ids[view], false)}, "full size"),
    chosen ? " · " : null, chosen ? make("a", {href: link({}), id: "unchoose"}, "back to the last picture") : null);
  if (chosen) $("unchoose").onclick = event => { event.preventDefault(); choose(one, null); };
  const size = outlined[0];
  $("shapes").toggleAttribute("hidden", !size || !$("outlines").checked);
  if (!size) return;
  $("shapes").setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  show($("shapes"), ...outlined.flatMap(region => region.polygons.flatMap(polygon => {
    const points = polygon.map(([x, y]) => `${x * size.width / region.width},${y * size.height / region.height}`).join(" ");
    return [draw("polygon", {points, class: "under"}),
      draw("polygon", {points, class: region.ignore ? "ignored" : ""}, draw("title", {}, region.name || "ignored"))];
  })));
}

function choose(one, ids) {
  chosen = ids;
  renderPicture(one);
  for (const button of $("snapshots").querySelectorAll("button"))
    button.setAttribute("aria-pressed", String(button.dataset.time === chosen?.time));
}

// A row of radio buttons.
function segments(id, choices, value, change) {
  const legend = $(id).querySelector("legend").cloneNode(true);
  show($(id), legend, ...choices.map(([key, words]) =>
    make("label", {}, make("input", {type: "radio", name: id, value: key, id: `${id}-${key}`}), words)));
  for (const input of $(id).querySelectorAll("input")) {
    input.checked = input.value === value;
    input.onchange = () => change(input.value);
  }
}

function options(select, groups, value, change) {
  show(select, ...groups.map(([label, list]) => {
    const made = list.map(([key, words]) => make("option", {value: key}, words));
    return label ? make("optgroup", {label}, ...made) : made;
  }).flat());
  select.value = value;
  select.onchange = () => change(select.value);
}

function renderControls(one) {
  const region = state.get("region") ?? "";
  const regions = [...new Set(one.regions.filter(each => !each.ignore).map(each => each.name))];
  const quantities = data.quantities.filter(each => region === "" || each.of_regions);
  const wanted = state.has("class") ? `class:${state.get("class")}` : state.get("quantity") ?? "tokens";
  options($("quantity"), [
    ["Measured", quantities.map(each => [each.key, each.label + (each.unit ? `, ${each.unit}` : "")])],
    ["Area of a class, %", one.classes.map(name => [`class:${name}`, name])]], wanted,
    value => go(value.startsWith("class:") ? {class: value.slice(6), quantity: null} : {quantity: value, class: null}));
  $("region").parentElement.hidden = regions.length === 0;
  options($("region"), [["", [["", "whole picture"], ...regions.map(name => [name, name])]]], region,
    value => go({region: value === "" ? null : value}));
  segments("periods", Object.keys(kPeriods).map(key => [key, key[0].toUpperCase() + key.slice(1)]), period(),
    value => go({period: value}));
  const end = endOf(one), length = kPeriods[period()];
  $("earlier").disabled = end - length <= one.first_ms;
  $("later").disabled = end >= (one.state === "archive" ? one.last_ms : data.now_ms);
  $("latest").disabled = !state.has("to");
  $("earlier").onclick = () => go({to: end - length});
  $("later").onclick = () => go({to: end + length >= data.now_ms ? null : end + length});
  $("latest").onclick = () => go({to: null});
}

// Empties the panels, so that what one camera shows does not stay under the name of the next.
function clearPeriod() {
  series = null;
  $("states").hidden = true;
  for (const id of ["span", "chart", "readout", "legend", "values", "events", "snapshots"]) show($(id));
}

async function renderPeriod(one) {
  const to = endOf(one), from = to - kPeriods[period()];
  const span = {camera: one.name, from: new Date(Math.max(0, from)).toISOString(), to: new Date(to).toISOString()};
  const key = state.has("class") ? {class: state.get("class")} : {quantity: state.get("quantity") ?? "tokens"};
  const answers = Promise.all([
    get("/api/series", {...span, ...key, region: state.get("region") ?? ""}), get("/api/events", span),
    get("/api/states", span), get("/api/snapshots", span)]);
  const [chart, events, states, snapshots] = await answers.catch(error => {
    if (camera() === one && series?.camera !== one.name) clearPeriod();
    throw error;
  });
  if (camera() !== one) return;  // another one was chosen meanwhile
  series = {...chart, camera: one.name, from, to, knowsNight: one.sample !== null && one.sample.night !== null,
    label: $("quantity").selectedOptions[0]?.textContent ?? ""};
  series.points = chart.rows.map(row => Object.fromEntries(chart.columns.map((name, i) => [name, row[i]])));
  cursor = Math.min(cursor, series.points.length - 1);
  const ends = period() === "hour" || period() === "day" ? date.full : date.dayOfYear;
  $("span").textContent = `${ends(from)} – ${ends(to)}`;
  renderChart();
  renderTable();
  renderStates(states, from, to);
  renderEvents(events);
  renderSnapshots(one, snapshots);
}

// -- the chart ----------------------------------------------------------------------------------------------------------

// The curves: one of all samples, or one by day and one by night.
const curves = () => series.knowsNight ? [["day", "by day"], ["night", "by night"]] : [["mean", "mean"]];

const when = time => (series.bucket_ms >= kDay ? date.dayOfYear : date.full)(time);

// Round values in [low, high], about `most` of them.
function ticks(low, high, most) {
  const raw = (high - low) / most, magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(factor => factor * magnitude).find(each => each >= raw * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) found.push(i * step);
  return {found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9))};
}

// Round times of the clock in [from, to), at most about `most`, with their labels.
function timeTicks(from, to, most) {
  const units = [[kMinute, [5, 10, 15, 30], date.clock], [kHour, [1, 2, 3, 6, 12], date.clock], [kDay, [1, 2, 5, 10], date.day]];
  const found = [];
  for (const [unit, steps, label] of units)
    for (const step of steps) {
      if ((to - from) / (unit * step) > most || (unit < kDay && to - from > 4 * kDay)) continue;
      const at = new Date(from);
      at.setSeconds(0, 0);
      if (unit === kMinute) at.setMinutes(Math.ceil(at.getMinutes() / step) * step);
      if (unit === kHour) at.setHours(Math.ceil(at.getHours() / step) * step, 0);
      if (unit === kDay) at.setHours(24, 0);
      while (at.getTime() < to) {
        if (at.getTime() >= from) found.push([at.getTime(), to - from > 5 * kDay && to - from < 10 * kDay ? date.weekday(at) : label(at)]);
        if (unit === kMinute) at.setMinutes(at.getMinutes() + step);
        if (unit === kHour) at.setHours(at.getHours() + step);
        if (unit === kDay) at.setDate(at.getDate() + step);
      }
      return found;
    }
  const at = new Date(from);
  at.setHours(0, 0, 0, 0);
  at.setMonth(at.getMonth() + 1, 1);
  const step = Math.ceil((to - from) / (30.4 * kDay) / most);
  for (; at.getTime() < to; at.setMonth(at.getMonth() + step))
    found.push([at.getTime(), at.getMonth() === 0 ? date.monthOfYear(at) : date.month(at)]);
  return found;
}

function readout(point) {
  const value = of => `${number(of, series.digits)}${series.unit && ` ${series.unit}`}`;
  const means = curves().filter(([key]) => point[key] !== null).map(([key, words]) => `${words} ${value(point[key])}`);
  return `${when(point.start_ms)}: ${means.join(", ")}; ${value(point.min)} to ${value(point.max)} in ${
    point.samples === 1 ? "1 sample" : `${number(point.samples, 0)} samples`}`;
}

function renderChart() {
  const {points, from, to, bucket_ms: width} = series;
  const box = $("chart").getBoundingClientRect();
  if (box.width === 0) return;
  if (points.length === 0) {
    show($("legend"));
    show($("chart"), make("p", {class: "quiet"}, "No samples in this period."));
    $("readout").textContent = "";
    return;
  }
  const area = {top: 8, bottom: box.height - 24, left: 8, right: box.width - 8};
  let low = Math.min(...points.map(point => point.min)), high = Math.max(...points.map(point => point.max));
  if (low > 0 && low < 0.35 * high) low = 0;
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  high += room;
  if (low !== 0) low -= room;
  const {found, digits} = ticks(low, high, Math.max(2, Math.floor((area.bottom - area.top) / 48)));
  area.left += Math.max(...found.map(value => number(value, digits).length)) * 7 + 4;
  const x = time => area.left + (time - from) / (to - from) * (area.right - area.left);
  const y = value => area.bottom - (value - low) / (high - low) * (area.bottom - area.top);
  const middle = point => x(Math.min(to, Math.max(from, point.start_ms + width / 2)));
  const spot = value => value.toFixed(1);

  const svg = draw("svg", {"aria-hidden": "true"});
  if (series.knowsNight && width < 6 * kHour)
    for (let i = 0; i < points.length; ++i) {
      if (points[i].day !== null) continue;
      const left = Math.max(area.left, x(points[i].start_ms));
      while (points[i + 1]?.day === null && !points[i + 1].gap_before) ++i;
      const joined = points[i + 1] && !points[i + 1].gap_before;
      const right = Math.min(area.right, x(joined ? points[i + 1].start_ms : points[i].start_ms + width));
      svg.append(draw("rect", {class: "dusk", x: spot(left), y: area.top, width: spot(right - left), height: spot(area.bottom - area.top)}));
    }
  for (const value of found)
    svg.append(draw("line", {class: "grid", x1: area.left, x2: area.right, y1: spot(y(value)), y2: spot(y(value))}),
      draw("text", {x: area.left - 6, y: spot(y(value) + 4), "text-anchor": "end"}, number(value, digits)));
  for (const [time, label] of timeTicks(from, to, Math.max(3, Math.floor((area.right - area.left) / 72))))
    svg.append(draw("line", {class: "grid", x1: spot(x(time)), x2: spot(x(time)), y1: area.bottom, y2: area.bottom + 5}),
      draw("text", {x: spot(Math.min(area.right - 16, Math.max(area.left + 16, x(time)))), y: area.bottom + 19, "text-anchor": "middle"}, label));

  // Pieces without a gap, for the band between minimum and maximum, and for each curve.
  const pieces = has => points.reduce((all, point) => {
    if (!has(point)) return all.at(-1)?.length === 0 ? all : [...all, []];
    if (all.length === 0 || point.gap_before) all.push([]);
    all.at(-1).push(point);
    return all;
  }, []).filter(piece => piece.length > 0);
  for (const piece of pieces(() => true)) {
    const edge = key => piece.map(point => `${spot(middle(point))},${spot(y(point[key]))}`);
    svg.append(draw("polygon", {class: "band", points: [...edge("max"), ...edge("min").reverse()].join(" ")}));
  }
  for (const [key] of curves())
    for (const piece of pieces(point => point[key] !== null)) {
      const line = piece.map(point => `${spot(middle(point))},${spot(y(point[key]))}`);
      svg.append(piece.length > 1 ? draw("polyline", {class: `curve ${key}`, points: line.join(" ")})
        : draw("circle", {class: `curve dot ${key}`, cx: line[0].split(",")[0], cy: line[0].split(",")[1], r: 2.5}));
    }
  const mark = draw("g");
  svg.append(mark);
  const chart = make("div", {role: "slider", tabindex: 0, id: "slider", "aria-orientation": "horizontal",
    "aria-label": `${series.label}: time in the chart`, "aria-valuemin": 0, "aria-valuemax": points.length - 1}, svg);

  const point = index => {
    cursor = Math.max(-1, Math.min(points.length - 1, index));
    mark.replaceChildren();
    chart.setAttribute("aria-valuenow", Math.max(0, cursor));
    chart.setAttribute("aria-valuetext", readout(points[Math.max(0, cursor)]));
    $("readout").textContent = cursor < 0 ? "Point at the chart, or focus it and use the arrow keys, to read values." : readout(points[cursor]);
    if (cursor < 0) return;
    mark.append(draw("line", {class: "cursor", x1: spot(middle(points[cursor])), x2: spot(middle(points[cursor])), y1: area.top, y2: area.bottom}));
    for (const [key] of curves())
      if (points[cursor][key] !== null)
        mark.append(draw("circle", {class: `curve dot ${key}`, cx: spot(middle(points[cursor])), cy: spot(y(points[cursor][key])), r: 4}));
  };
  chart.onkeydown = event => {
    const page = Math.max(1, Math.round(points.length / 10));
    const to = {ArrowLeft: cursor - 1, ArrowDown: cursor - 1, ArrowRight: cursor + 1, ArrowUp: cursor + 1,
      PageDown: cursor - page, PageUp: cursor + page, Home: 0, End: points.length - 1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    point(Math.max(0, to));
  };
  chart.onpointermove = chart.onpointerdown = event => {
    const at = event.clientX - chart.getBoundingClientRect().left;
    const distances = points.map(each => Math.abs(middle(each) - at));
    point(distances.indexOf(Math.min(...distances)));
  };
  const focused = document.activeElement?.id === "slider";
  $("chart").replaceChildren(chart);
  if (focused) chart.focus();
  point(cursor);
  const sample = key => key === "band" ? draw("rect", {class: "band", width: 28, height: 12})
    : draw("line", {class: `curve ${key}`, x1: 1, x2: 27, y1: 6, y2: 6});
  show($("legend"), ...[...curves(), ["band", "lowest to highest"]].map(([key, words]) =>
    make("li", {}, draw("svg", {"aria-hidden": "true"}, sample(key)), words)));
}

function renderTable() {
  const value = (point, key) => make("td", {}, number(point[key], series.digits));
  const heads = ["Time", ...curves().map(([, words]) => words[0].toUpperCase() + words.slice(1)), "Lowest", "Highest", "Samples"];
  const sum = Object.fromEntries(series.columns.map((name, i) => [name, series.all[i]]));
  const row = (point, words) => make("tr", {}, make("th", {scope: "row"}, words), ...curves().map(([key]) => value(point, key)),
    value(point, "min"), value(point, "max"), make("td", {}, number(point.samples, 0)));
  show($("values"), make("caption", {}, series.label), make("thead", {}, make("tr", {}, ...heads.map(head => make("th", {scope: "col"}, head)))),
    make("tbody", {}, sum.samples > 0 ? row(sum, "All") : null, ...series.points.map(point => row(point, when(point.start_ms)))));
}

// -- states, events, pictures -------------------------------------------------------------------------------------------

function renderStates(heads, from, to) {
  $("states").hidden = heads.length === 0;
  show($("strips"), ...heads.map(head => {
    const all = Object.values(head.samples).reduce((sum, count) => sum + count, 0);
    const names = [...new Set([...head.changes.map(([, name]) => name), ...Object.keys(head.samples)])].filter(Boolean).sort();
    const last = Math.max(from, Math.min(to, camera().last_ms));
    const stretches = head.changes.map(([start, name], i) => [start, head.changes[i + 1]?.[0] ?? last, name]);
    const place = time => (time - from) / (to - from) * 1000;  // Chromium cuts lengths beyond 2^25, so none is in milliseconds
    return make("div", {class: "strip"}, make("h3", {}, head.name),
      draw("svg", {viewBox: "0 0 1000 1", preserveAspectRatio: "none", "aria-hidden": "true"},
        ...stretches.filter(([, , name]) => name).map(([start, end, name]) => draw("rect",
          {class: `tone${names.indexOf(name) % 4}`, x: place(start), width: Math.max(0, place(end) - place(start)), height: 1},
          draw("title", {}, `${name} from ${date.full(start)}`)))),
      make("ul", {}, ...names.map((name, i) => make("li", {}, make("i", {class: `tone${i % 4}`}),
        `${name}: ${percent((head.samples[name] ?? 0) / (all || 1))} of the samples`))));
  }));
}

function renderEvents(events) {
  if (events.length === 0) return show($("events"), make("li", {class: "quiet"}, "No events in this period."));
  show($("events"), ...events.reverse().map(event => make("li", {class: event.severity},
    make("div", {class: "quiet"}, make("time", {datetime: event.time}, date.second(Date.parse(event.time))), ` · ${event.event}`),
    event.severity === "info" ? null : make("b", {}, `${event.severity === "error" ? "Error" : "Warning"}: `), event.message)));
}

function renderSnapshots(one, snapshots) {
  if (snapshots.length === 0) return show($("snapshots"), make("li", {class: "quiet"}, "No pictures are stored of this period."));
  show($("snapshots"), ...snapshots.map((ids, i) => make("li", {}, make("button",
    {type: "button", id: `snapshot-${i}`, "data-time": ids.time, "aria-pressed": String(ids.time === chosen?.time)},
    make("img", {src: picture(ids[firstView(ids)]), alt: "", loading: "lazy"}), make("span", {}, date.dayClock(Date.parse(ids.time)))))));
  snapshots.forEach((ids, i) => { $(`snapshot-${i}`).onclick = () => choose(one, ids); });
}

// -- start --------------------------------------------------------------------------------------------------------------

addEventListener("hashchange", () => {
  const before = state.get("camera");
  for (const key of [...state.keys()]) state.delete(key);
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) state.set(key, value);
  if (state.get("camera") !== before) {
    chosen = view = null;
    cursor = -1;
    scrollTo(0, 0);
  }
  refresh();
});
addEventListener("resize", () => { if (series && !$("camera").hidden) renderChart(); });
document.addEventListener("visibilitychange", () => document.hidden ? clearTimeout(timer) : refresh());
$("outlines").onchange = () => renderPicture(camera());
$("login").onsubmit = async event => {
  event.preventDefault();
  const answer = await fetch("/api/cameras", {headers: {Authorization: `Bearer ${$("token").value}`}});
  $("refused").hidden = answer.ok;
  if (answer.ok) refresh();
};
refresh();
