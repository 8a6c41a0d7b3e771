// Many clients of unleash-client in one process, driven by lines of JSON on stdin; each is answered
// by one line on stdout.
const { Unleash, InMemStorageProvider } = require("unleash-client");
const source = require("unleash-client/lib/event-source");
const readline = require("node:readline");

const { EventSource } = source;

const clients = new Map();
const commands = {
  open: ({ id, url, token, mode, interval, isTokenFromFunction, readTimeout }) => {
    source.EventSource = class extends EventSource {
      constructor(address, options) {
        super(address, readTimeout ? { ...options, readTimeoutMillis: readTimeout } : options);
      }
    };
    const headers = { Authorization: token };
    const unleash = new Unleash({
      url: `${url}/api/`,
      appName: id,
      refreshInterval: interval ?? 15000,
      disableMetrics: true,
      metricsInterval: 0,
      skipInstanceCountWarning: true,
      storageProvider: new InMemStorageProvider(),
      ...(isTokenFromFunction ? { customHeadersFunction: async () => headers } : { customHeaders: headers }),
      ...(mode ? { experimentalMode: mode } : {}),
    });
    const client = { unleash, changes: 0, isReady: false, changedAt: 0 };
    unleash.on("error", () => {});
    unleash.on("warn", () => {});
    unleash.on("synchronized", () => { client.isReady = true; });
    unleash.on("changed", () => { client.changes += 1; client.changedAt = Date.now(); });
    clients.set(id, client);
    return true;
  },
  state: ({ id }) => {
    const { unleash, changes, isReady, changedAt } = clients.get(id);
    return {
      features: unleash.repository.getToggles(),
      segments: [...unleash.repository.segments.values()],
      mode: unleash.repository.getMode(),
      changes, isReady, changedAt,
    };
  },
  enabled: ({ id, flag, context }) => clients.get(id).unleash.isEnabled(flag, context ?? {}),
  close: ({ id }) => { clients.get(id).unleash.destroy(); clients.delete(id); return true; },
};

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const command = JSON.parse(line);
  process.stdout.write(JSON.stringify(commands[command.do](command)) + "\n");
});
