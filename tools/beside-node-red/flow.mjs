// Two print at once through docs/node-red-flow.json: the second waits for the first.
//
// node flow.mjs <url of Node-RED with that flow> <url of Grackle>

const [nodeRed, grackle] = process.argv.slice(2);

async function value() {
  const answer = await fetch(`${grackle}/semaphore/value/printer`);
  return answer.ok ? (await answer.json()).value : undefined;
}

async function until(what, isSo) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within 10 s: ${what}`);
}

async function print() {
  const answer = await fetch(`${nodeRed}/print`, { method: "POST" });
  return answer.status;
}

const first = print();
await until("it prints", async () => (await value()) === 0);
const order = [];
const second = print().then((status) => order.push(`second ${status}`));
await Promise.all([first.then((status) => order.push(`first ${status}`)), second]);
if (order.join() !== "first 200,second 200") throw new Error(`answered: ${order}`);
await until("all is given back", async () => (await value()) === 1);
console.error("flow: two who print at once took turns");
