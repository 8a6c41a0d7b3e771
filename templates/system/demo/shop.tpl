<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A shop with a feature flag</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; --bad: light-dark(#a4262c, #ff9d9d); --good: light-dark(#17663c, #7fd3a1); --line: light-dark(#d5dae2, #39424f); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
main { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); }
section { border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem; }
h1 { font-size: 1.6rem; margin: 0 0 1.5rem; } h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
button { background: var(--bad); border: 0; border-radius: 6px; color: light-dark(#fff, #14181f); cursor: pointer; font: inherit; padding: .5rem 1rem; }
button:disabled { cursor: default; opacity: .6; }
#orders { display: grid; gap: 3px; grid-template-columns: repeat(20, 1fr); margin: 1rem 0; }
#orders i { background: var(--good); border-radius: 2px; font-style: normal; height: 18px; }
#orders i.bad { background: var(--bad); }
#state { font-size: 1.25rem; font-weight: 600; }
ol { list-style: none; margin: 0; padding: 0; } li { border-top: 1px solid var(--line); padding: .4rem 0; }
time { font-variant-numeric: tabular-nums; margin-right: .5rem; opacity: .75; }
</style>
<body data-url="{{service_url}}" data-token="{{token}}" data-flag="{{flag}}">
<h1>A shop with a feature flag</h1>
<main>
  <section>
    <h2>Orders, two a second</h2>
    <p id="state" role="status">Starting …</p>
    <div id="orders" role="img" aria-label="The newest orders: red ones failed"></div>
    <p><span id="rate">0</span>% of the newest orders failed.</p>
    <button id="break">Break the new checkout for 40 seconds</button>
  </section>
  <section>
    <h2>What happens</h2>
    <ol id="log"></ol>
  </section>
  <section>
    <h2>Look behind it</h2>
    <p>The shop asks for the flag <code>{{flag}}</code> and reports its orders, with the requests of the official SDK for browsers.
      An alert rule compares the orders that failed with all orders. While it fires, an automation keeps the flag off.</p>
    <p><a href="{{sign_in}}?flag" target="_blank">Page of the flag</a> · <a href="{{sign_in}}" target="_blank">Home</a></p>
  </section>
</main>
<script>
const { url, token, flag } = document.body.dataset, find = (id) => document.getElementById(id)
const headers = {
  accept: "application/json", authorization: token, "unleash-sdk": "sigservice-demo:1", "unleash-appname": "shop",
  "unleash-connection-id": crypto.randomUUID(),
}
const session = String(Math.floor(Math.random() * 1e9)), newest = []
let etag = "", isOn = null, brokenUntil = 0, start = new Date(), orders = 0, failed = 0, evaluations = { yes: 0, no: 0 }

function tell(text) {
  const item = document.createElement("li"), time = document.createElement("time")
  time.textContent = new Date().toLocaleTimeString()
  item.append(time, text)
  find("log").prepend(item)
}

async function refresh() {
  const query = new URLSearchParams({ sessionId: session, appName: "shop", environment: "default" })
  const response = await fetch(`${url}/api/frontend?${query}`, { cache: "no-cache", headers: { ...headers, "if-none-match": etag } })
  if (response.status !== 200) return
  etag = response.headers.get("ETag") ?? ""
  const isOnNow = (await response.json()).toggles.some((toggle) => toggle.name === flag && toggle.enabled)
  if (isOnNow === isOn) return
  if (isOn === null) tell("The shop uses the " + (isOnNow ? "new" : "old") + " checkout.")
  else if (isOnNow) tell("The flag is on: the shop uses the new checkout.")
  else tell("The flag is off: the old checkout takes the orders.")
  isOn = isOnNow
  find("state").textContent = isOn ? "New checkout" : "Old checkout"
}

function takeOrder() {
  if (isOn === null) return
  const hasFailed = isOn && Date.now() < brokenUntil
  evaluations[isOn ? "yes" : "no"] += 1
  orders += 1
  failed += hasFailed
  newest.push(hasFailed)
  if (newest.length > 60) newest.shift()
  find("orders").replaceChildren(...newest.map((isBad) => {
    const order = document.createElement("i")
    order.className = isBad ? "bad" : ""
    return order
  }))
  find("rate").textContent = Math.round((100 * newest.filter(Boolean).length) / newest.length)
  find("break").disabled = Date.now() < brokenUntil || !isOn
}

function count(name, help, value) {
  return { name, help, type: "counter", samples: [{ labels: { appName: "shop", environment: "production" }, value }] }
}

async function report() {
  const stop = new Date()
  const body = {
    appName: "shop", instanceId: "browser",
    bucket: { start, stop, toggles: { [flag]: { ...evaluations, variants: {} } } },
    impactMetrics: [count("orders", "Orders", orders), count("failed_orders", "Orders that failed", failed)],
  }
  start = stop
  orders = failed = 0
  evaluations = { yes: 0, no: 0 }
  await fetch(`${url}/api/frontend/client/metrics`, {
    method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body),
  })
}

find("break").onclick = () => {
  brokenUntil = Date.now() + 40_000
  tell("You broke the new checkout: its orders fail. The alert rule looks every 15 seconds.")
}
const repeat = (task, seconds) => setInterval(() => task().catch(() => { find("state").textContent = "The service doesn't answer" }), 1000 * seconds)
refresh().catch(() => {})
repeat(refresh, 1)
repeat(report, 3)
setInterval(takeOrder, 500)
</script>
</body>
</html>
