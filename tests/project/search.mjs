// The search of the site, as the browser's worker answers it: node search.mjs typed|pasted SITE QUERY… prints the pages found, a list for each query.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import vm from "node:vm";

const [how, site, ...queries] = process.argv.slice(2);
const workers = join(site, "assets", "javascripts", "workers");
const [name] = (await readdir(workers)).filter((each) => each.endsWith(".js"));
const index = JSON.parse(await readFile(join(site, "search", "search_index.json"), "utf8"));
const page = await readFile(join(site, "index.html"), "utf8");
const settings = JSON.parse(page.match(/<script id="__config" type="application\/json">(.*?)<\/script>/s)[1]);

// What is pasted goes through the site's own script first.
const pasted = vm.runInContext(
  `${await readFile(join(site, "assets", "search.js"), "utf8")}; searchable`,
  vm.createContext({}),
);

let heard;
const answers = [];
const waiting = [];
const world = {
  console,
  Intl,
  setTimeout,
  importScripts: () => undefined,
  addEventListener: (kind, listener) => kind === "message" && (heard = listener),
  postMessage: (message) => (waiting.length > 0 ? waiting.shift()(message) : answers.push(message)),
};
world.self = world; // as in a worker
vm.runInContext(await readFile(join(workers, name), "utf8"), vm.createContext(world));

function said(type, data) {
  const answer = new Promise((resolve) => (answers.length > 0 ? resolve(answers.shift()) : waiting.push(resolve)));
  heard({ data: { type, data } });
  return answer;
}

index.options = { suggest: settings.features.includes("search.suggest") };
await said(0, index);
for (const query of queries) {
  const { data } = await said(2, how === "pasted" ? pasted(query) : query);
  console.log(JSON.stringify(data.items.map((articles) => articles[0].location.replace(/#.*$/, ""))));
}
