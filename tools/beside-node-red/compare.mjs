// Plays the same 200 requests at the Node-RED package and at Grackle, and prints a table of the answers.
// Fails where they differ and nothing here says why.
//
// node compare.mjs <url of Node-RED> <url of Grackle>

const [original, ours] = process.argv.slice(2);

// The package leaves some requests without any answer.
const PATIENCE_MS = 1000;

const json = (method, path, body) => ({
  method, path, type: "application/json", body: JSON.stringify(body),
});
const form = (path, fields) => ({
  method: "POST", path, type: "application/x-www-form-urlencoded",
  body: new URLSearchParams(fields).toString(),
});
const bare = (method, path) => ({ method, path });

const value = (name) => bare("GET", `/semaphore/value/${encodeURIComponent(name)}`);
const up = (name) => json("POST", "/semaphore/up", { name });
const down = (name) => json("POST", "/semaphore/down", { name });
const create = (name, value) => json("POST", "/semaphore", { name, value });
const remove = (name) => bare("DELETE", `/semaphore/${encodeURIComponent(name)}`);

// What is asked, in words, and the request. Of each kind one row of the table is made.
function requests() {
  const list = [];
  const add = (kind, request) => list.push({ kind, request });
  for (const name of ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]) {
    add("create, value 2", create(name, 2));
    add("value of it", value(name));
    add("create it again", create(name, 5));
    add("down at 2", down(name));
    add("down at 1", down(name));
    add("down at 0", down(name));
    add("value at 0", value(name));
    add("up at 0", up(name));
    add("up at 1", up(name));
    add("up past the first value", up(name));
    add("value past the first", value(name));
    add("value of none", value(`no-${name}`));
    add("up of none", up(`no-${name}`));
    add("down of none", down(`no-${name}`));
    add("delete none", remove(`no-${name}`));
  }
  for (const name of ["k", "l"]) {
    add("create, value 2.9", create(`${name}-float`, 2.9));
    add("value after 2.9", value(`${name}-float`));
    add('create, value "4"', create(`${name}-text`, "4"));
    add('value after "4"', value(`${name}-text`));
    add("create, value -3", create(`${name}-negative`, -3));
    add("value after -3", value(`${name}-negative`));
    add("create, value 0", create(`${name}-zero`, 0));
    add("value after 0", value(`${name}-zero`));
    add("create, value 0.5", create(`${name}-half`, 0.5));
    add("value after 0.5", value(`${name}-half`));
    add('create, value "x"', create(`${name}-word`, "x"));
    add('value after "x"', value(`${name}-word`));
    add("create, no value", json("POST", "/semaphore", { name: `${name}-none` }));
    add("value after none", value(`${name}-none`));
    add("create, value null", create(`${name}-null`, null));
    add("create, no name", json("POST", "/semaphore", { value: 1 }));
    add("up, no name", json("POST", "/semaphore/up", {}));
    add("create by a form", form("/semaphore", { name: `${name}-form`, value: "3" }));
    add("down by a form", form("/semaphore/down", { name: `${name}-form` }));
    add("create, broken JSON", { ...create(name, 1), body: '{"name":' });
    add("create, a name with a blank", create(`${name} blank`, 1));
    add("value of a name with a blank", value(`${name} blank`));
    add("delete one that is there", remove(`${name}-float`));
    add("value of a deleted one", value(`${name}-float`));
  }
  add("value, no name in the path", bare("GET", "/semaphore/value/"));
  add("another method", bare("PUT", "/semaphore"));
  return list;
}

// Why ours differs from the original, by the kind of request.
const RIGHT = "as its README says";
const WHY = {
  "create it again": "its Location leads to the value; the body is no echo of what was asked",
  "delete none": "one spelling",
  "create, value 0": "not positive: 400, " + RIGHT,
  "value after 0": "there is none",
  "create, value 0.5": "becomes 0, which is not positive",
  "value after 0.5": "there is none",
  'create, value "x"': "not a number",
  'value after "x"': "there is none",
  "create, no value": "not a number",
  "value after none": "there is none",
  "create, value null": "not a number",
  "create, no name": "an answer, always",
  "up, no name": "an answer, always",
  "create, broken JSON": "the caller's fault, not the server's",
  "create, a name with a blank": "an answer, always; what a path can carry is a name",
  "value of a name with a blank": "there is one",
  "delete one that is there": "deleted and answered, " + RIGHT,
  "value of a deleted one": "it is gone",
  "value, no name in the path": "paths that are not are answered in JSON",
  "another method": "405: the path is there",
};

async function ask(base, { method, path, type, body }) {
  const headers = type ? { "content-type": type } : {};
  const options = { method, headers, body, redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS) };
  try {
    const answer = await fetch(base + path, options);
    const text = (await answer.text()).trim().replace(/\s+/g, " ");
    const location = answer.headers.get("location");
    return `${answer.status} ${shortened(text)}${location ? ` → ${location}` : ""}`.trim();
  } catch (error) {
    if (error.name === "TimeoutError") return "no answer";
    throw error;
  }
}

const shortened = (text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

// Names differ from request to request of one kind; where only they do, the answers are the same.
const unnamed = (text) => text
  .replace(/"name":"[^"]*"/g, '"name":"…"')
  .replace(/\/semaphore\/value\/\S+/g, "/semaphore/value/…");

const rows = new Map();
const all = requests();
if (all.length !== 200) throw new Error(`${all.length} requests, not 200`);
for (const { kind, request } of all) {
  const answers = [];
  // One after the other: both are to be in the same state.
  for (const base of [original, ours]) answers.push(unnamed(await ask(base, request)));
  const row = rows.get(kind) ?? { answers, count: 0 };
  if (row.answers.join("\n") !== answers.join("\n")) {
    throw new Error(`${kind}: now ${answers}, before ${row.answers}`);
  }
  row.count += 1;
  rows.set(kind, row);
}

const unused = Object.keys(WHY).filter((kind) => {
  const [theirs, mine] = rows.get(kind)?.answers ?? ["", ""];
  return theirs === mine;
});
if (unused.length > 0) throw new Error(`nothing to explain: ${unused}`);

let unexplained = 0;
console.log("| Asked | Times | Node-RED package | Grackle | Why |\n|---|---:|---|---|---|");
for (const [kind, { answers: [theirs, mine], count }] of rows) {
  const why = theirs === mine ? "the same" : WHY[kind];
  if (why === undefined) unexplained += 1;
  const cell = (text) => "`" + text.replaceAll("|", "\\|") + "`";
  console.log(`| ${kind} | ${count} | ${cell(theirs)} | ${cell(mine)} | ${why ?? "NOT EXPLAINED"} |`);
}
if (unexplained > 0) {
  console.error(`${unexplained} differences are not explained`);
  process.exit(1);
}
