// unleash-proxy-client without a browser, driven by lines of JSON on stdin.
const { UnleashClient, InMemoryStorageProvider } = require("unleash-proxy-client");
const readline = require("node:readline");

const [url, clientKey] = process.argv.slice(2);
const tell = (value) => process.stdout.write(JSON.stringify(value) + "\n");
const client = new UnleashClient({
  url: `${url}/api/frontend`,
  clientKey,
  appName: "page",
  refreshInterval: 1,
  metricsInterval: 1,
  metricsIntervalInitial: 1,
  fetch,
  storageProvider: new InMemoryStorageProvider(),
});
const seen = {};
for (const event of ["initialized", "ready", "update", "error", "sent", "impression"]) {
  client.on(event, () => { seen[event] = (seen[event] ?? 0) + 1; });
}

async function until(event) {
  for (let i = 0; i < 200 && !seen[event]; i += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
  return seen;
}

const commands = {
  start: async () => { client.start(); return until("ready"); },
  fail: async () => { client.start(); return until("error"); },
  context: async ({ context }) => { await client.updateContext(context); return true; },
  on: async ({ flag }) => client.isEnabled(flag),
  measure: async ({ value }) => {
    client.impactMetrics.defineCounter("clicks", "Clicks");
    client.impactMetrics.incrementCounter("clicks", value);
    return true;
  },
  variant: async ({ flag }) => client.getVariant(flag),
  until: async ({ event }) => { delete seen[event]; return until(event); },
};

readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  const command = JSON.parse(line);
  tell(await commands[command.do](command));
});
