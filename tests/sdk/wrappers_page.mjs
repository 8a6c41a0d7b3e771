// The wrappers in a browser: `await run(name, url, token)` shows flags in the page.
import { configure, start } from "./wrappers.mjs";

window.run = async (name, url, token) => {
  window.commands = await start[name](configure(name, url, token), document.body);
  return true;
};
