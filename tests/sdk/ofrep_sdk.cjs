// The OFREP providers of OpenFeature for servers and, without a browser, for web pages, driven by
// lines of JSON on stdin; each is answered by one line on stdout.
const server = require("@openfeature/server-sdk");
const web = require("@openfeature/web-sdk");
const { OFREPProvider } = require("@openfeature/ofrep-provider");
const { OFREPWebProvider } = require("@openfeature/ofrep-web-provider");
const readline = require("node:readline");

const stored = new Map();
globalThis.localStorage = {
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, value) => stored.set(key, String(value)),
  removeItem: (key) => stored.delete(key),
  key: (index) => [...stored.keys()][index] ?? null,
  get length() { return stored.size; },
};
globalThis.EventSource = require("eventsource").EventSource;

const baseUrl = process.argv[2];
const tell = (value) => process.stdout.write(JSON.stringify(value) + "\n");
const pick = ({ value, reason, variant, errorCode }) => ({ value, reason, variant, errorCode });
const method = (type) => `get${type}Details`;
const pairs = (token) => [["Authorization", `Bearer ${token}`]];
let statuses = {};

const realFetch = globalThis.fetch;
globalThis.fetch = async (...call) => {
  const response = await realFetch(...call);
  statuses[response.status] = (statuses[response.status] ?? 0) + 1;
  return response;
};

const commands = {
  server: async ({ token, path = "" }) => {
    const provider = new OFREPProvider({ baseUrl: baseUrl + path, headers: pairs(token) });
    await server.OpenFeature.setProviderAndWait(provider);
    return true;
  },
  get: async ({ type, flag, fallback, context }) =>
    pick(await server.OpenFeature.getClient()[method(type)](flag, fallback, context ?? {})),
  web: async ({ token, context }) => {
    const provider = new OFREPWebProvider({ baseUrl, headers: pairs(token) });
    try {
      await web.OpenFeature.setProviderAndWait(provider, context);
      return "ready";
    } catch (error) {
      return error.code ?? String(error);
    }
  },
  context: async ({ context }) => { await web.OpenFeature.setContext(context); return true; },
  see: async ({ type, flag, fallback }) => pick(web.OpenFeature.getClient()[method(type)](flag, fallback)),
  until: async ({ flag, value }) => {
    const start = Date.now();
    for (let i = 0; i < 3000; i += 1) {
      if (web.OpenFeature.getClient().getBooleanValue(flag, false) === value) return Date.now() - start;
      await new Promise((done) => setTimeout(done, 10));
    }
    return null;
  },
  statuses: async () => { const last = statuses; statuses = {}; return last; },
};

readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  const command = JSON.parse(line);
  tell(await commands[command.do](command));
});
