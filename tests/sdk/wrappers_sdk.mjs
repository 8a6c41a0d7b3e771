// The wrappers of the browser SDK, rendered into a DOM emulation and driven by lines of JSON on stdin;
// each is answered by one line on stdout.
import readline from "node:readline";
import { Window } from "happy-dom";

const [name, url, frontendToken, clientToken] = process.argv.slice(2);
const window = new Window({ url });
const { document, localStorage } = window;
Object.assign(globalThis, { window, document, localStorage });
globalThis.navigator ??= window.navigator; // before Node 21
for (const type of ["Element", "HTMLElement", "SVGElement", "MathMLElement"]) globalThis[type] = window[type];
const root = document.body.appendChild(document.createElement("div"));

const config = {
  url: `${url}/api/frontend`,
  clientKey: frontendToken,
  appName: name,
  refreshInterval: 1,
  metricsInterval: 1,
  metricsIntervalInitial: 1,
  context: { userId: "7" },
  fetch: globalThis.fetch,
};
const write = (isReady, beta, variant) =>
  isReady ? `beta ${beta}, color ${variant.name} ${variant.payload?.value}` : "loading";

async function renderReact({ FlagProvider, useFlag, useFlagsStatus, useVariant, useUnleashContext }) {
  const { createElement } = await import("react");
  const { createRoot } = await import("react-dom/client");
  let update;
  const View = () => {
    update = useUnleashContext();
    return write(useFlagsStatus().flagsReady, useFlag("beta"), useVariant("color"));
  };
  createRoot(root).render(createElement(FlagProvider, { config }, createElement(View)));
  return { context: async ({ context }) => { await update(context); return true; } };
}

async function renderVue() {
  const { createApp } = await import("vue/dist/vue.cjs.js");
  const { plugin, useFlag, useFlagsStatus, useVariant, useUnleashContext } =
    await import("@unleash/proxy-client-vue");
  let update;
  const setup = () => {
    update = useUnleashContext();
    const [status, beta, color] = [useFlagsStatus(), useFlag("beta"), useVariant("color")];
    return { text: () => write(status.flagsReady.value, beta.value, color.value) };
  };
  createApp({ setup, template: "{{ text() }}" }).use(plugin, { config }).mount(root);
  return { context: async ({ context }) => { await update(context); return true; } };
}

// On the server: definitions are fetched and evaluated, and the result is reported with a client token.
async function runNext() {
  const next = await import("@unleash/nextjs");
  Object.assign(process.env, {
    UNLEASH_SERVER_API_URL: `${url}/api`,
    UNLEASH_SERVER_API_TOKEN: clientToken,
    UNLEASH_FRONTEND_API_TOKEN: frontendToken,
    UNLEASH_APP_NAME: name,
  });
  const evaluate = async (context) => next.evaluateFlags(await next.getDefinitions(), context);
  return {
    server: async ({ context }) => (await evaluate(context)).toggles.map((toggle) => toggle.name),
    frontend: async ({ context }) =>
      (await next.getFrontendFlags({ context })).toggles.map((toggle) => toggle.name),
    flag: async ({ flag, context }) => next.flag(flag, context),
    report: async ({ context }) => {
      const client = next.flagsClient((await evaluate(context)).toggles);
      const isEnabled = client.isEnabled("beta");
      client.getVariant("color");
      await client.sendMetrics();
      return isEnabled;
    },
  };
}

async function runOpenFeature() {
  const { OpenFeature } = await import("@openfeature/web-sdk");
  const { UnleashWebProvider } = await import("@openfeature/unleash-web-provider");
  await OpenFeature.setProviderAndWait(new UnleashWebProvider(config));
  const client = OpenFeature.getClient();
  return {
    boolean: async ({ flag }) => client.getBooleanValue(flag, false),
    string: async ({ flag }) => client.getStringValue(flag, "default"),
    context: async ({ context }) => { await OpenFeature.setContext(context); return true; },
  };
}

const start = {
  react: async () => renderReact(await import("@unleash/proxy-client-react")),
  "next-page": async () => renderReact(await import("@unleash/nextjs/client")),
  vue: renderVue,
  next: runNext,
  openfeature: runOpenFeature,
};
const commands = await start[name]();
commands.text = async () => root.textContent;

readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  const command = JSON.parse(line);
  process.stdout.write(JSON.stringify(await commands[command.do](command)) + "\n");
});
