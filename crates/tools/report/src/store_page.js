// Fills the live page of a pool of stores: fetches the pool's state once a second, and shows it.
"use strict";

const PERIOD = 1000; // [ms]
const PATIENCE = 5000; // after this long without an answer a member is considered lost [ms]
const SLOTS = 16384;
const POINTS = 120; // in the picture of rates
const COLOURS = ["s0", "s1", "s2", "s3", "s4", "s6"];

const number = new Intl.NumberFormat("en");
/** For each name, its last count, when that was seen, and the rate then. */
const before = new Map();
/** The rates of the whole pool. */
const history = [];

function byId(id) {
  return document.getElementById(id);
}

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit + 1 < units.length) {
    count /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? count : count.toFixed(1)} ${units[unit]}`;
}

function rate(count) {
  return number.format(Math.round(count));
}

/** An element with a class and a text; text from a server is never taken for markup. */
function made(name, kind, text) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
}

function row(cells) {
  const line = made("tr");
  for (const [kind, content] of cells) {
    const cell = made("td", kind);
    cell.append(content instanceof Node ? content : String(content));
    line.append(cell);
  }
  return line;
}

/** The rate per second at which the count of that name has risen since the last call. */
function rateOf(name, count, now) {
  const last = before.get(name);
  before.set(name, { count, now, rate: last ? last.rate : 0 });
  if (!last || now <= last.now) return last ? last.rate : 0;
  const risen = (Math.max(0, count - last.count) / (now - last.now)) * 1000;
  before.get(name).rate = risen;
  return risen;
}

function isLost(member) {
  return member.state === null || member.silent > PATIENCE;
}

/** The servers of all members that answer, in order of slots. If two members name a server, the one heard from last is right. */
function serversOf(members) {
  const servers = new Map();
  members.forEach((member, place) => {
    if (isLost(member)) return;
    for (const server of member.state.servers) {
      const known = servers.get(server.server);
      if (!known || known.silent > member.silent) {
        const colour = COLOURS[place % COLOURS.length];
        servers.set(server.server, { ...server, member: member.member, silent: member.silent, capacity: member.state.capacity, colour });
      }
    }
  });
  return [...servers.values()].sort((a, b) => a.first_slot - b.first_slot);
}

function stateOf(server) {
  const parts = [server.is_steady ? "steady" : "splitting or merging"];
  if (server.token !== null) parts.push("token");
  return parts.join(", ");
}

function loadOf(server) {
  const share = server.records / server.capacity;
  const bar = made("span", share > 1 ? "load full" : "load");
  const filled = made("span");
  filled.style.width = `${Math.min(100, share * 100)}%`;
  bar.append(filled);
  const cell = made("span");
  cell.append(bar, ` ${Math.round(share * 100)} %`);
  return cell;
}

function showServers(servers, now) {
  const rows = servers.map((server) =>
    row([
      ["number", server.server],
      ["short", `${number.format(server.first_slot)}-${number.format(server.last_slot)}`],
      ["short", server.member],
      ["number", server.level],
      ["number", number.format(server.records)],
      ["short", loadOf(server)],
      ["number", bytes(server.memory)],
      ["number", rate(rateOf(`server ${server.server} of ${server.member}`, server.answered, now - server.silent))],
      ["number", number.format(server.forwarded)],
      ["number", number.format(server.splits)],
      ["number", number.format(server.merges)],
      ["short", stateOf(server)],
    ]),
  );
  byId("server-rows").replaceChildren(...rows);
}

/** What a member is in its group, where that is to keep parity or to be a spare. */
function partOf(group) {
  if (group?.parity) return group.parity.leads && group.parity.columns.length > 0 ? "parity, leader" : "parity";
  if (group?.spare) return group.spare.is_given ? "spare, replacing a lost member" : "spare";
  return "";
}

function columnText(column) {
  if (column.is_being_rebuilt) return `${column.member} (lost)`;
  if (column.leaves) return `${column.member} (leaves)`;
  return column.is_complete ? column.member : `${column.member} (not covered yet)`;
}

function rebuildingText(rebuilding) {
  if (!rebuilding) return "-";
  const what = rebuilding.member ?? "parity";
  return `${what} on ${rebuilding.to}: ${number.format(rebuilding.done)} of ${number.format(rebuilding.stripes)} stripes`;
}

/** One row for each group whose lead is there. */
function showGroups(members) {
  const keepers = members.filter((member) => !isLost(member) && member.state.group?.parity);
  const leads = keepers.filter((member) => member.state.group.parity.leads && member.state.group.parity.columns.length > 0);
  const rows = leads.map((lead) => {
    const group = lead.state.group.parity;
    const whole = group.survives === group.promised ? ", whole" : "";
    return row([
      ["", group.columns.map(columnText).join(", ")],
      ["short", lead.member],
      ["short", group.other ? `${group.other}${group.is_backed ? "" : " (incomplete)"}` : "-"],
      ["short", `${group.survives} of ${group.promised}${whole}`],
      ["number", group.spares],
      ["short", rebuildingText(group.rebuilding)],
    ]);
  });
  byId("group-rows").replaceChildren(...rows);
  byId("groups").hidden = !members.some((member) => member.state?.group);
}

function memberState(member, own) {
  if (member.state === null) return "no answer yet";
  if (isLost(member)) return `silent for ${Math.round(member.silent / 1000)} s`;
  const servers = partOf(member.state.group) || (member.state.servers.length === 0 ? "standby" : "serves");
  return member.member === own ? `${servers}, answers this page` : servers;
}

function showMembers(view) {
  const rows = view.members.map((member) => {
    const state = member.state;
    const asked = state && rateOf(`member ${member.member}`, state.requests, view.now - member.silent);
    const of = (text) => (state ? text(state) : "");
    return row([
      ["short", member.member],
      ["short", member.address],
      ["number", of((it) => it.servers.length)],
      ["number", of((it) => number.format(it.clients))],
      ["number", of(() => rate(asked))],
      ["number", of((it) => number.format(it.errors))],
      ["number", of((it) => bytes(it.resident))],
      ["short", memberState(member, view.own)],
    ]);
  });
  byId("member-rows").replaceChildren(...rows);
}

function showSlots(servers) {
  const parts = servers.map((server) => {
    const slots = server.last_slot - server.first_slot + 1;
    const part = made("span", `part ${server.colour}${server.is_steady ? "" : " moving"}`, server.server);
    part.style.flex = `${slots} 0 0`;
    part.title = `server ${server.server}, slots ${server.first_slot} to ${server.last_slot}, ${server.records} records, member ${server.member}`;
    return part;
  });
  const map = byId("map");
  map.replaceChildren(...parts);
  const described = servers.map((server) => `server ${server.server} has slots ${server.first_slot} to ${server.last_slot}`);
  map.setAttribute("aria-label", described.join("; ") || "No server is known yet");
  const members = new Map(servers.map((server) => [server.member, server.colour]));
  const legend = [...members].map(([member, colour]) => {
    const item = made("li", colour);
    item.append(made("span", "swatch"), member);
    return item;
  });
  byId("map-legend").replaceChildren(...legend);
  const covered = servers.reduce((sum, server) => sum + server.last_slot - server.first_slot + 1, 0);
  map.dataset.covered = covered;
  return covered;
}

function showRate(now) {
  history.push(now);
  if (history.length > POINTS) history.shift();
  const most = Math.max(1, ...history);
  const point = (value, place) => `${((POINTS - history.length + place) * 600) / (POINTS - 1)},${100 - (value / most) * 96}`;
  byId("rate-line").setAttribute("points", history.map(point).join(" "));
  const text = `All members over the last two minutes: ${rate(now)} a second now, ${rate(most)} at most.`;
  byId("rate-caption").textContent = text;
  byId("rate-picture").setAttribute("aria-label", text);
}

function showTotals(view, servers) {
  const members = view.members.filter((member) => !isLost(member));
  const sum = (items, of) => items.reduce((total, item) => total + of(item), 0);
  const rates = sum(members, (member) => before.get(`member ${member.member}`).rate);
  const forwarded = sum(servers, (server) => rateOf(`forwards of ${server.server} of ${server.member}`, server.forwarded, view.now - server.silent));
  const token = servers.find((server) => server.token !== null);
  const totals = {
    "total-servers": number.format(servers.length),
    "total-records": number.format(sum(servers, (server) => server.records)),
    "total-memory": bytes(sum(servers, (server) => server.memory)),
    "total-members": number.format(view.members.length),
    "total-clients": number.format(sum(members, (member) => member.state.clients)),
    "total-rate": rate(rates),
    "total-forwards": rate(forwarded),
    "total-splits": number.format(sum(servers, (server) => server.splits)),
    "total-merges": number.format(sum(servers, (server) => server.merges)),
    token: token ? `server ${token.server}` : "nobody",
  };
  for (const [id, text] of Object.entries(totals)) byId(id).textContent = text;
  showRate(rates);
}

/** Sets the status, which screen readers read aloud, only when it has changed. */
function say(text, isBad) {
  const status = byId("status");
  if (status.textContent !== text) status.textContent = text;
  status.classList.toggle("lost", isBad);
}

function show(view) {
  view.members.sort((a, b) => (a.member < b.member ? -1 : 1));
  const servers = serversOf(view.members);
  showServers(servers, view.now);
  showMembers(view);
  showGroups(view.members);
  showTotals(view, servers);
  const lost = view.members.filter((member) => member.state !== null && isLost(member)).map((member) => member.member);
  const covered = showSlots(servers);
  if (!view.is_welcome) say("This member has not been admitted to a pool yet.", true);
  else if (lost.length > 0) say(`Silent: ${lost.join(", ")}.`, true);
  else if (covered === SLOTS) say("All slots are served.", false);
  else say("Not all slots are known yet.", false);
}

async function ask() {
  try {
    const response = await fetch("state.json", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    show(await response.json());
  } catch (error) {
    say(`The member that serves this page does not answer: ${error.message}.`, true);
  }
  setTimeout(ask, PERIOD);
}

ask();
