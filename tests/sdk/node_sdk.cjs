// unleash-client, driven by lines of JSON on stdin; each is answered by one line on stdout.
const { Unleash } = require("unleash-client");
const readline = require("node:readline");

const [url, token] = process.argv.slice(2);
const tell = (value) => process.stdout.write(JSON.stringify(value) + "\n");
const unleash = new Unleash({
  url: `${url}/api/`,
  appName: "node-app",
  instanceId: "node-1",
  refreshInterval: 100,
  metricsInterval: 200,
  metricsJitter: 0,
  skipInstanceCountWarning: true,
  customHeaders: { Authorization: token },
});
const seen = {};
for (const event of ["ready", "synchronized", "changed", "unchanged", "registered", "sent", "error", "warn"]) {
  unleash.on(event, () => { seen[event] = (seen[event] ?? 0) + 1; });
}
unleash.on("error", () => {});

async function until(event, count = 1) {
  const before = seen[event] ?? 0;
  for (let i = 0; i < 200 && (seen[event] ?? 0) < before + count; i += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
  return seen;
}

const commands = {
  ready: async () => { while (!seen.synchronized) await until("synchronized"); return seen; },
  on: async ({ flag, context }) => unleash.isEnabled(flag, context ?? {}),
  variant: async ({ flag, context }) => unleash.getVariant(flag, context ?? {}),
  until: async ({ event }) => until(event),
  seen: async () => seen,
  define: async () => {
    unleash.impactMetrics.defineCounter("purchases", "Purchases");
    unleash.impactMetrics.defineGauge("users", "Users");
    unleash.impactMetrics.defineHistogram("lat", "Latency", [0.1, 1]);
    return true;
  },
  measure: async ({ value, flags }) => {
    const context = { flagNames: flags, context: { userId: "1" } };
    unleash.impactMetrics.incrementCounter("purchases", value, context);
    unleash.impactMetrics.updateGauge("users", value, context);
    unleash.impactMetrics.observeHistogram("lat", value, context);
    return true;
  },
};

readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  const command = JSON.parse(line);
  tell(await commands[command.do](command));
});
