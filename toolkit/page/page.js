// SPDX-License-Identifier: Apache-2.0
// The page: a list of cameras, and one camera. What it shows is in the fragment of the address, so a link leads back to it.
"use strict";

const kMinute = 60e3, kHour = 3600e3, kDay = 86400e3;
const kFirst = Date.UTC(1900, 0);  // scenes begin then; requests of earlier times are refused
const kPeriods = {hour: kHour, day: kDay, week: 7 * kDay, month: 30 * kDay, year: 365 * kDay};
const kStates = {opening: "○ opening", online: "● online", stalled: "▲ without samples", lost: "▲ lost", not_writing: "▲ not storing", ended: "■ ended", archive: "▤ archive"};
const kViews = {overlay: "Overlay", depth: "Depth", merge_map: "Merge map", frame: "Picture"};  // the first that is there is shown first
const kRefresh = 15e3;
const kCalendarKept = 10 * kMinute;  // then it is drawn again: each small picture is asked for anew

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

// Times are shown by the clock of the camera, whose offsets from UTC the server says; the language is that of the browser.
const offset = (time, one) => one.clock.offsets.findLast(([from]) => from <= time)?.[1] ?? one.clock.offsets[0][1];
const format = options => {
  const made = new Intl.DateTimeFormat(undefined, {...options, timeZone: "UTC"});
  return (time, one) => made.format(time + offset(time, one));
};
const date = {
  full: format({dateStyle: "medium", timeStyle: "short"}),
  second: format({dateStyle: "medium", timeStyle: "medium"}),
  dayClock: format({day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"}),
  dayOfYear: format({dateStyle: "medium"}),
};

const number = (value, digits) => value === null || value === undefined ? "–" : value.toLocaleString(undefined, {
  minimumFractionDigits: digits, maximumFractionDigits: digits});
const percent = (share, digits = 1) => `${number(100 * share, digits)} %`;
const light = sample => sample.night === null ? null : sample.night ? "night" : "day";
const byArea = sample => Object.entries(sample.area_fraction).filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
const picture = (id, small = true) => `api/snapshot/${encodeURIComponent(id)}${small ? "?small" : ""}`;
const firstView = ids => Object.keys(kViews).find(view => ids[view]);

// -- what is shown ------------------------------------------------------------------------------------------------------

const state = new URLSearchParams(location.hash.slice(1));
let data = null;       // of /api/cameras
let chosen = null;     // the stored picture that was chosen in place of the last one
let view = null;       // of kViews
let series = null;     // of /api/series
let cursor = -1;       // a row of it
let timer = 0;
let calendar = null;   // the calendar on show: what it shows, and until when it is kept
let day = -1;          // of its days, with the mark

const link = changes => {
  const next = new URLSearchParams(state);
  for (const [key, value] of Object.entries(changes)) value === null ? next.delete(key) : next.set(key, value);
  return `#${next}`;
};
const go = changes => { location.hash = link(changes); };
const camera = () => data.cameras.find(one => one.name === state.get("camera"));
const period = () => kPeriods[state.get("period")] ? state.get("period") : "day";

// The end of the chart: what was chosen, else until when something is known.
const endOf = one => state.has("to") ? Number(state.get("to")) : one.known_until_ms;

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
    data = await get("api/cameras");
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
          one.age ?? `${date.full(one.last_ms, one)} ${one.clock.name}`, light(sample),
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
  const facts = {"Samples": one.last_ms ? `${number(one.samples, 0)} kept${one.series.length > 1 ? " of the latest series" : ""}` : "none", "Model": [one.model || "–", one.settings].filter(Boolean).join(", ")};
  if (sample) {
    const flags = data.quantities.filter(each => each.is_flag && sample[each.key]);
    Object.assign(facts, {
      "Taken": `${date.second(sample.unix_ms, one)} ${one.clock.name}${one.age ? `, ${one.age}` : ""}`,
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
  const areas = sample ? byArea(sample) : [];
  $("areas-title").hidden = areas.length === 0;
  show($("areas"), ...areas.map(([name, share]) => make("li", {}, make("span", {}, name), make("span", {}, percent(share)),
    make("progress", {"aria-hidden": "true", max: 1, value: share}))));
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
  const taken = ids && Date.parse(ids.time);
  const outlined = one.regions.filter(region => region.polygons && !(taken < Date.parse(region.from)) && !(taken >= Date.parse(region.to)));
  $("outlines-choice").hidden = outlined.length === 0 || views.length === 0;
  if (views.length === 0) return;
  if ($("picture").getAttribute("src") !== picture(ids[view])) $("picture").src = picture(ids[view]);
  $("picture").alt = `${kViews[view]} of ${one.name}, ${date.full(taken, one)}`;
  show($("caption"), `${date.second(taken, one)} ${one.clock.name} · `, make("a", {href: picture(ids[view], false)}, "full size"),
    chosen ? " · " : null, chosen ? make("a", {href: link({}), id: "unchoose"}, "back to the last picture") : null);
  if (chosen) $("unchoose").onclick = event => { event.preventDefault(); choose(one, null); };
  const size = outlined[0];
  $("shapes").toggleAttribute("hidden", !size || !$("outlines").checked);
  if (!size) return;
  const moved = (x, y) => ids.moved ? ids.moved.map(([a, b, c]) => a * x + b * y + c) : [x, y];
  $("shapes").setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  show($("shapes"), ...outlined.flatMap(region => region.polygons.flatMap(polygon => {
    const points = polygon.map(([x, y]) => moved((x + 0.5) / region.width, (y + 0.5) / region.height)).map(([x, y]) => `${x * size.width},${y * size.height}`).join(" ");
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
  $("later").disabled = end >= one.known_until_ms;
  $("latest").disabled = !state.has("to");
  $("earlier").onclick = () => go({to: end - length});
  $("later").onclick = () => go({to: end + length >= one.known_until_ms ? null : end + length});
  $("latest").onclick = () => go({to: null});
}

// Empties the panels, so that what one camera shows does not stay under the name of the next.
function clearPeriod() {
  series = null;
  $("states").hidden = $("slider").hidden = true;
  for (const id of ["span", "drawing", "readout", "values", "outages", "events", "snapshots"]) show($(id));
}

async function renderPeriod(one) {
  const to = endOf(one), from = to - kPeriods[period()];
  const span = {camera: one.name, from: new Date(Math.max(kFirst, from)).toISOString(), to: new Date(to).toISOString()};
  const key = state.has("class") ? {class: state.get("class")} : {quantity: state.get("quantity") ?? "tokens"};
  const asked = {...span, ...key, region: state.get("region") ?? ""};
  const answers = Promise.all([
    get("api/series", asked), get("api/events", span), get("api/states", span), get("api/snapshots", span),
    get("api/outages", span), drawingOf("api/chart.svg", asked, $("chart"))]);
  const [chart, events, states, snapshots, outages, drawing] = await answers.catch(error => {
    if (camera() === one && series?.camera !== one.name) clearPeriod();
    throw error;
  });
  if (camera() !== one) return;  // another one was chosen meanwhile
  series = {...chart, camera: one.name, asked,
    label: $("quantity").selectedOptions[0]?.textContent ?? ""};
  series.points = chart.rows.map(row => Object.fromEntries(chart.columns.map((name, i) => [name, row[i]])));
  cursor = Math.min(cursor, series.points.length - 1);
  const ends = period() === "hour" || period() === "day" ? date.full : date.dayOfYear;
  $("span").textContent = `${ends(from, one)} – ${ends(to, one)}, ${one.clock.name}`;
  renderChart(drawing);
  renderTable();
  renderStates(states);
  renderOutages(outages);
  renderEvents(events);
  renderSnapshots(one, snapshots);
  await renderCalendar(one);
}

// -- the chart ----------------------------------------------------------------------------------------------------------

// The server draws it (/api/chart.svg); here it is placed, and its values are read by pointer and keys.

// The means that stand side by side: their keys in a point, and words. Where a rule came later, the points before it have neither side.
const means = () => !series.knows_night ? [["mean", "mean"]] : [["day", "by day"], ["night", "by night"],
  ...(series.points.some(point => point.neither !== null) ? [["neither", "not told apart"]] : [])];

const when = time => (series.bucket_ms >= kDay ? date.dayOfYear : date.full)(time, camera());
const dark = matchMedia("(prefers-color-scheme: dark)");

// How a drawing fits into an element.
const lookOf = element => ({width: Math.round(Math.min(4000, Math.max(240, element.clientWidth))), theme: dark.matches ? "dark" : "light"});

async function drawingOf(path, asked, element) {
  const query = new URLSearchParams({...asked, ...lookOf(element)});
  const answer = await fetch(`${path}?${query}`);
  if (answer.status === 401) throw new Refused();
  if (!answer.ok) throw new Error((await answer.json()).error);
  const drawing = document.importNode(new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement, true);
  for (const image of drawing.querySelectorAll("image")) image.setAttribute("href", new URL(image.getAttribute("href"), answer.url));
  return drawing;
}

// After another width or theme.
async function redraw() {
  const {asked} = series ?? {};
  if (!asked || $("camera").hidden) return;
  const drawing = await drawingOf("api/chart.svg", asked, $("chart"));
  if (series?.asked === asked) renderChart(drawing);
  await renderCalendar(camera());
}

function readout(point) {
  const value = of => `${number(of, series.digits)}${series.unit && ` ${series.unit}`}`;
  const read = means().filter(([key]) => point[key] !== null).map(([key, words]) => `${words} ${value(point[key])}`);
  return `${when(point.start_ms)}: ${read.join(", ")}; ${value(point.min)} to ${value(point.max)} in ${
    point.samples === 1 ? "1 sample" : `${number(point.samples, 0)} samples`}`;
}

// Makes an element a slider over `count` places: `steps` says by how many a key moves, Home and End go to the ends, Enter opens the marked one.
function slides(element, count, steps, {marked, mark, open}) {
  element.setAttribute("aria-valuemax", Math.max(0, count - 1));
  element.onkeydown = event => {
    if (event.key === "Enter" && marked() >= 0) return open(marked());
    const to = {Home: 0, End: count - 1}[event.key] ?? marked() + steps[event.key];
    if (Number.isNaN(to)) return;
    event.preventDefault();
    mark(Math.max(0, to));
  };
}

function renderChart(drawing) {
  const {points} = series;
  drawing.setAttribute("aria-hidden", "true");
  $("drawing").replaceChildren(drawing);
  const slider = $("slider");
  slider.hidden = false;
  slider.setAttribute("aria-label", `${series.label}: time in the chart`);
  const area = Object.fromEntries(["from", "to", "left", "right", "top", "bottom"].map(name => [name, Number(drawing.dataset[name])]));
  const scale = () => drawing.clientWidth / Number(drawing.getAttribute("width"));
  const x = point => scale() * (area.left + (point.middle_ms - area.from) / (area.to - area.from) * (area.right - area.left));

  const point = index => {
    cursor = Math.max(-1, Math.min(points.length - 1, index));
    const now = points[Math.max(0, cursor)];
    slider.setAttribute("aria-valuenow", Math.max(0, cursor));
    slider.setAttribute("aria-valuetext", now ? readout(now) : "no samples");
    $("readout").textContent = !now ? "" : cursor < 0 ? "Point at the chart, or focus it and use the arrow keys, to read values. A click or Enter shows the picture that was stored then." : readout(now);
    $("mark").hidden = cursor < 0;
    if (cursor < 0) return;
    Object.assign($("mark").style, {left: `${x(now)}px`, top: `${scale() * area.top}px`, height: `${scale() * (area.bottom - area.top)}px`});
  };
  // From a point to its picture.
  const open = index => {
    const at = points[index];
    chooseNear(at.middle_ms, (area.to - area.from) / 2)
      .then(found => { if (!found) $("readout").textContent = `${readout(at)}. No picture is stored near that time.`; })
      .catch(error => complain(error.message));
  };
  const page = Math.max(1, Math.round(points.length / 10));
  slides(slider, points.length, {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page},
    {marked: () => cursor, mark: point, open});
  slider.onclick = () => { if (cursor >= 0) open(cursor); };
  slider.onpointermove = slider.onpointerdown = event => {
    const at = event.clientX - slider.getBoundingClientRect().left;
    const distances = points.map(each => Math.abs(x(each) - at));
    point(distances.indexOf(Math.min(...distances)));
  };
  point(cursor);
}

function renderTable() {
  const value = (point, key) => make("td", {}, number(point[key], series.digits));
  const heads = ["Time", ...means().map(([, words]) => words[0].toUpperCase() + words.slice(1)), "Lowest", "Highest", "Samples"];
  const sum = Object.fromEntries(series.columns.map((name, i) => [name, series.all[i]]));
  const row = (point, words) => make("tr", {}, make("th", {scope: "row"}, words), ...means().map(([key]) => value(point, key)),
    value(point, "min"), value(point, "max"), make("td", {}, number(point.samples, 0)));
  show($("values"), make("caption", {}, series.label), make("thead", {}, make("tr", {}, ...heads.map(head => make("th", {scope: "col"}, head)))),
    make("tbody", {}, sum.samples > 0 ? row(sum, "All") : null, ...series.points.map(point => row(point, when(point.start_ms)))));
}

// The stored picture of this camera that is nearest to a time takes the place of the last one. False: there is none.
async function chooseNear(time, within) {
  const {name} = camera();
  const span = {from: new Date(Math.max(kFirst, time - within)).toISOString(), to: new Date(time + within + 1).toISOString(), near: new Date(time).toISOString()};
  const [found] = await get("api/snapshots", {camera: name, ...span});
  if (camera()?.name !== name) return true;  // another camera was chosen meanwhile
  if (!found) return false;
  choose(camera(), found);
  $("picture-title").scrollIntoView({block: "nearest"});
  return true;
}

// The names of its states in the span, also where the samples are forgotten.
const statesOf = head => [...new Set([...Object.keys(head.samples), ...head.changes.map(([, name]) => name)])].filter(Boolean);

// -- the calendar -------------------------------------------------------------------------------------------------------

// The server draws it (/api/calendar.svg), when it is opened; here it is placed, and its days are read by pointer and keys.

function keyOfCalendar() {
  const [states, value] = JSON.parse(state.get("tint") ?? "[]");
  if (states) return {states, state: value};
  return {...state.has("class") ? {class: state.get("class")} : {quantity: state.get("quantity") ?? "tokens"}, region: state.get("region") ?? ""};
}

async function renderCalendar(one) {
  $("calendar").open = state.has("calendar");
  if (!$("calendar").open || one.years.length === 0) return;
  const years = one.years.map(each => String(each.year)).reverse();
  const year = years.includes(state.get("year")) ? state.get("year") : years[0];
  const moments = data.moments.map(each => [each.moment, each.name]);
  const moment = moments.some(([each]) => each === state.get("moment")) ? state.get("moment") : moments[0][0];
  options($("year"), [["", years.map(each => [each, each])]], year, value => go({year: value}));
  options($("moment"), [["", moments]], moment, value => go({moment: value}));
  const {from_ms, to_ms} = one.years.find(each => String(each.year) === year);
  const span = {camera: one.name, from: new Date(from_ms).toISOString(), to: new Date(to_ms).toISOString()};
  const shown = {...keyOfCalendar(), moment};
  const key = JSON.stringify([one.name, year, shown, lookOf($("days"))]);  // without `to`: a camera that runs has new samples each time
  if (calendar?.key === key && Date.now() < calendar.until) return;
  const heads = await get("api/states", span);
  const tint = state.get("tint") ?? "";
  const tints = new Map(heads.flatMap(head => statesOf(head).map(name => [JSON.stringify([head.name, name]), `${head.name}: ${name}`])));
  if (tint && !tints.has(tint)) tints.set(tint, JSON.parse(tint).join(": "));  // a state that never counted in this year
  options($("tint"), [["", [["", `as the chart: ${$("quantity").selectedOptions[0]?.textContent ?? ""}`]]], ["Share of the time", [...tints]]],
    tint, value => go({tint: value === "" ? null : value}));
  const drawing = await drawingOf("api/calendar.svg", {...span, ...shown}, $("days"));
  if (camera() !== one) return;
  if (calendar?.year !== year) day = -1;
  calendar = {key, year, until: Date.now() + kCalendarKept};
  $("days").replaceChildren(drawing);
  const days = [...drawing.querySelectorAll(".day")];
  const mark = index => {
    days[day]?.classList.remove("marked");
    day = Math.max(-1, Math.min(days.length - 1, index));
    days[day]?.classList.add("marked");
    $("days").setAttribute("aria-valuenow", Math.max(0, day));
    $("days").setAttribute("aria-valuetext", days[Math.max(0, day)]?.dataset.text ?? "no days");
    $("day").textContent = days[day]?.dataset.text ?? (days.length ? "Choose a day, by a click or with the arrow keys and Enter, to see its picture." : "No samples and no pictures in this year.");
  };
  const open = index => {
    mark(index);
    const taken = days[index]?.dataset.taken;
    if (taken) chooseNear(Number(taken), 0).catch(error => complain(error.message));
  };
  $("days").onclick = event => {
    const of = event.target.closest(".day");
    if (of) open(days.indexOf(of));
  };
  const moveTo = index => {
    mark(index);
    days[day]?.scrollIntoView({block: "nearest"});
  };
  slides($("days"), days.length, {ArrowLeft: -1, ArrowUp: -7, ArrowRight: 1, ArrowDown: 7}, {marked: () => day, mark: moveTo, open});
  mark(day);
}

// -- states, events, pictures -------------------------------------------------------------------------------------------

// How the samples share among the states; when each was so is a strip of the chart.
function renderStates(heads) {
  $("states").hidden = heads.length === 0;
  show($("shares"), ...heads.flatMap(head => {
    const all = Object.values(head.samples).reduce((sum, count) => sum + count, 0);
    const names = statesOf(head).sort();
    return [make("dt", {}, head.name),
      make("dd", {}, all > 0 ? names.map(name => `${name}: ${percent((head.samples[name] ?? 0) / all)}`).join(", ") : "not known")];
  }));
}

function lasting(ms) {
  for (const [unit, length] of [["days", kDay], ["hours", kHour], ["minutes", kMinute]])
    if (ms >= 2 * length) return `${number(ms / length, ms < 10 * length ? 1 : 0)} ${unit}`;
  return `${number(ms / 1e3, 0)} s`;
}

// When no animal on the pictures does not mean that there was none.
function renderOutages(outages) {
  if (outages.length === 0) return show($("outages"), make("li", {class: "quiet"}, "None in this period."));
  show($("outages"), ...outages.reverse().map(({begin, end, text}) => {
    const [from, to] = [Date.parse(begin), Date.parse(end)];
    return make("li", {}, make("div", {class: "quiet"}, make("time", {datetime: begin}, date.second(from, camera())),
      to > from ? [" – ", date.second(to, camera())].join("") : null), make("b", {}, text), to > from ? `, ${lasting(to - from)}` : null);
  }));
}

function renderEvents(events) {
  if (events.length === 0) return show($("events"), make("li", {class: "quiet"}, "No events in this period."));
  show($("events"), ...events.reverse().map(event => make("li", {class: event.severity},
    make("div", {class: "quiet"}, make("time", {datetime: event.time}, date.second(Date.parse(event.time), camera())), ` · ${event.event}`),
    event.severity === "info" ? null : make("b", {}, `${event.severity === "error" ? "Error" : "Warning"}: `), event.message)));
}

function renderSnapshots(one, snapshots) {
  if (snapshots.length === 0) return show($("snapshots"), make("li", {class: "quiet"}, "No pictures are stored of this period."));
  show($("snapshots"), ...snapshots.map((ids, i) => make("li", {}, make("button",
    {type: "button", id: `snapshot-${i}`, "data-time": ids.time, "aria-pressed": String(ids.time === chosen?.time)},
    make("img", {src: picture(ids[firstView(ids)]), alt: "", loading: "lazy"}), make("span", {}, date.dayClock(Date.parse(ids.time), one))))));
  snapshots.forEach((ids, i) => { $(`snapshot-${i}`).onclick = () => choose(one, ids); });
}

// -- start --------------------------------------------------------------------------------------------------------------

addEventListener("hashchange", () => {
  const before = state.get("camera");
  for (const key of [...state.keys()]) state.delete(key);
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) state.set(key, value);
  if (state.get("camera") !== before) {
    chosen = view = calendar = null;
    cursor = -1;
    $("days").replaceChildren();
    scrollTo(0, 0);
  }
  refresh();
});
let resized = 0;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(redraw, 200);
});
dark.addEventListener("change", redraw);
document.addEventListener("visibilitychange", () => document.hidden ? clearTimeout(timer) : refresh());
$("calendar").ontoggle = () => { if ($("calendar").open !== state.has("calendar")) go({calendar: $("calendar").open ? "open" : null}); };
$("outlines").onchange = () => renderPicture(camera());
$("login").onsubmit = async event => {
  event.preventDefault();
  const answer = await fetch("api/cameras", {headers: {Authorization: `Bearer ${$("token").value}`}});
  $("refused").hidden = answer.ok;
  if (answer.ok) refresh();
};
refresh();
