// The wrappers of the browser SDK: `start[name](config, root)` shows flags as text in the element
// `root`, and returns commands.
const write = (isReady, beta, variant) =>
  isReady ? `beta ${beta}, color ${variant.name} ${variant.payload?.value}` : "loading";

async function renderReact(config, root, { FlagProvider, useFlag, useFlagsStatus, useVariant, useUnleashContext }) {
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

async function renderVue(config, root) {
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

async function runOpenFeature(config) {
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

export const start = {
  react: async (...page) => renderReact(...page, await import("@unleash/proxy-client-react")),
  "next-page": async (...page) => renderReact(...page, await import("@unleash/nextjs/client")),
  vue: renderVue,
  openfeature: runOpenFeature,
};

export const configure = (name, url, clientKey) => ({
  url: `${url}/api/frontend`,
  clientKey,
  appName: name,
  refreshInterval: 1,
  metricsInterval: 1,
  metricsIntervalInitial: 1,
  context: { userId: "7" },
});
