// The wrappers in a DOM emulation, and Next.js on the server, driven by lines of JSON on stdin; each is
// answered by one line on stdout.
import readline from "node:readline";
import { Window } from "happy-dom";

const [name, url, frontendToken, clientToken] = process.argv.slice(2);
const window = new Window({ url });
const { document, localStorage } = window;
Object.assign(globalThis, { window, document, localStorage });
globalThis.navigator ??= window.navigator; // before Node 21
for (const type of ["Element", "HTMLElement", "SVGElement", "MathMLElement"]) globalThis[type] = window[type];
const root = document.body.appendChild(document.createElement("div"));

const { configure, start } = await import("./wrappers.mjs");

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

const commands =
  name === "next"
    ? await runNext()
    : await start[name]({ ...configure(name, url, frontendToken), fetch: globalThis.fetch }, root);
commands.text = async () => root.textContent;

readline.createInterface({ input: process.stdin }).on("line", async (line) => {
  const command = JSON.parse(line);
  process.stdout.write(JSON.stringify(await commands[command.do](command)) + "\n");
});
