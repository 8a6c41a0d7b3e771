// A running program that streams with the official Node SDK: prints `on` or `off` when the answer of
// isEnabled changes. usage: node flag_program.cjs URL TOKEN FLAG
const { createRequire } = require("node:module");
const { Unleash, InMemStorageProvider } = createRequire(`${__dirname}/../tests/sdk/package.json`)("unleash-client");

const [url, token, flag] = process.argv.slice(2);
const unleash = new Unleash({
  url: `${url}/api/`,
  appName: "bench-node",
  customHeaders: { Authorization: token },
  experimentalMode: { type: "streaming" },
  storageProvider: new InMemStorageProvider(),
  disableMetrics: true,
  skipInstanceCountWarning: true,
});
let last = null;
setInterval(() => {
  const enabled = unleash.isEnabled(flag);
  if (enabled !== last) process.stdout.write(enabled ? "on\n" : "off\n");
  last = enabled;
}, 1);
