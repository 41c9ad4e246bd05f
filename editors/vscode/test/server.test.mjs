// The real server, spoken to with the library that the extension's client is made of. $TCLINT is the command.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const protocol = require("vscode-languageserver-protocol/node");
const words = require("../dist/words.js");

const MODEL = `import copy

import torch


@torch.compile
def step(x: torch.Tensor):
    print("low", x)
    return copy.deepcopy(x > 0)
`;

async function connected() {
  const folder = await mkdtemp(join(tmpdir(), "tclint-vscode-"));
  await writeFile(join(folder, "tclint.toml"), 'target-torch = "2.13"\n');
  await writeFile(join(folder, "net.py"), MODEL);
  const [command, ...before] = (process.env.TCLINT ?? "tclint").split(" ");
  const given = words.serverCommand(command, ["--delay", "0.05"]);
  const child = spawn(given.command, [...before, ...given.args], { cwd: folder });
  child.stderr.resume();
  const connection = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(child.stdout),
    new protocol.StreamMessageWriter(child.stdin),
  );
  connection.onRequest("client/registerCapability", () => null);
  connection.onRequest("workspace/diagnostic/refresh", () => null);
  connection.listen();
  return { child, connection, folder, uri: pathToFileURL(join(folder, "net.py")).href };
}

async function initialized({ connection, folder }, capabilities) {
  const rootUri = pathToFileURL(folder).href;
  const workspaceFolders = [{ uri: rootUri, name: "project" }];
  const told = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri,
    workspaceFolders,
    capabilities,
    initializationOptions: { allowRules: false },
  });
  await connection.sendNotification(protocol.InitializedNotification.type, {});
  return told.capabilities;
}

async function ended({ child, connection }) {
  const code = new Promise((resolve) => child.on("exit", resolve));
  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  assert.equal(await code, 0);
  connection.dispose();
}

test("what the extension relies on: findings, their page, fixes and fix all, notebooks, an end", async () => {
  const session = await connected();
  const { connection, uri } = session;
  const told = await initialized(session, {
    textDocument: { diagnostic: {}, codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } } },
    notebookDocument: { synchronization: {} },
    workspace: { workspaceFolders: true, diagnostics: { refreshSupport: true } },
  });
  assert.ok(told.diagnosticProvider);
  assert.ok(told.hoverProvider);
  assert.deepEqual(told.codeActionProvider.codeActionKinds, ["quickfix", "source.fixAll.tclint"]);
  assert.deepEqual(told.notebookDocumentSync.notebookSelector[0].cells, [{ language: "python" }]);

  const textDocument = { uri, languageId: "python", version: 1, text: MODEL };
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument });
  const report = await connection.sendRequest(protocol.DocumentDiagnosticRequest.type, { textDocument: { uri } });
  const found = report.items.map((each) => [each.code, each.range.start.line, each.source]);
  assert.deepEqual(found, [["TCL108", 7, "tclint"], ["TCL116", 8, "tclint"]]);
  assert.match(report.items[0].codeDescription.href, /^file:.*tcl108.*\.py$/);

  const actions = await connection.sendRequest(protocol.CodeActionRequest.type, {
    textDocument: { uri },
    range: report.items[0].range,
    context: { diagnostics: report.items, only: ["source.fixAll.tclint"] },
  });
  assert.equal(actions.length, 1);
  assert.match(JSON.stringify(actions[0].edit), /clone/);
  await ended(session);
});

test("words that need no editor", () => {
  assert.deepEqual(words.serverCommand(" ", ["--delay", "1"]), { command: "tclint", args: ["server", "--delay", "1"] });
  assert.equal(words.stateWords(false, true, 0), "$(sync~spin) tclint");
  assert.equal(words.stateWords(false, false, 3), "$(error) tclint: not running");
  assert.equal(words.stateWords(true, false, 0), "$(check) tclint");
  assert.equal(words.stateWords(true, false, 1), "$(flame) tclint: 1 finding");
  assert.equal(words.stateWords(true, false, 2), "$(flame) tclint: 2 findings");
  assert.equal(words.codeOf({ value: "TCL101", target: {} }), "TCL101");
  assert.equal(words.codeOf(undefined), undefined);
});
