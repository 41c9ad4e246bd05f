// One file for the editor: the extension and its language client. The version and the schema come from the package.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";

const root = new URL("../../", import.meta.url);
const [, version] = (await readFile(new URL("tclint/__init__.py", root), "utf8")).match(/__version__ = "([^"]+)"/);
const about = JSON.parse(await readFile("package.json", "utf8"));
if (about.version !== version) {
  await writeFile("package.json", `${JSON.stringify({ ...about, version }, null, 2)}\n`);
}
await mkdir("dist", { recursive: true });
await copyFile(new URL("docs/tclint.schema.json", root), "tclint.schema.json");
await build({
  entryPoints: { extension: "src/extension.ts", words: "src/words.ts" },
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  outdir: "dist",
});
