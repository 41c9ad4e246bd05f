// The extension: starts `tclint server`, shows its state, and opens the page of a rule where its code is clicked.
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions, State } from "vscode-languageclient/node";
import { codeOf, serverCommand, stateWords } from "./words";

let client: LanguageClient | undefined;
let status: vscode.StatusBarItem;
let output: vscode.LogOutputChannel;

const SELECTOR = [
  { scheme: "file", language: "python" },
  { notebook: "jupyter-notebook", language: "python" },
];

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel("tclint", { log: true });
  status = vscode.window.createStatusBarItem("tclint", vscode.StatusBarAlignment.Right, 90);
  status.name = "tclint";
  status.command = "tclint.showOutput";
  context.subscriptions.push(
    output,
    status,
    vscode.commands.registerCommand("tclint.restart", restart),
    vscode.commands.registerCommand("tclint.showOutput", () => output.show()),
    vscode.commands.registerCommand("tclint.fixAll", fixAll),
    vscode.commands.registerCommand("tclint.showRule", showRule),
    vscode.languages.onDidChangeDiagnostics(count),
    vscode.window.onDidChangeActiveTextEditor(count),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (["enable", "path", "args"].some((key) => event.affectsConfiguration(`tclint.${key}`))) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("tclint");
  if (!settings.get<boolean>("enable", true)) {
    status.hide();
    return;
  }
  const server: ServerOptions = serverCommand(settings.get("path", "tclint"), settings.get("args", []));
  const options: LanguageClientOptions = {
    documentSelector: SELECTOR,
    outputChannel: output,
    initializationOptions: { allowRules: vscode.workspace.isTrusted && settings.get<boolean>("allowRules", false) },
    synchronize: { configurationSection: "tclint" },
  };
  client = new LanguageClient("tclint", "tclint", server, options);
  client.onDidChangeState(({ newState }) => show(newState));
  show(State.Starting);
  try {
    await client.start();
  } catch (error) {
    show(State.Stopped);
    const words = `tclint could not be started (${error}). Install it with: pip install "torch-compile-lint[lsp]", or set tclint.path.`;
    if ((await vscode.window.showErrorMessage(words, "Open settings")) !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "tclint.path");
    }
  }
}

async function stop(): Promise<void> {
  const ending = client;
  client = undefined;
  if (ending?.needsStop()) {
    await ending.stop();
  }
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

function show(state: State): void {
  status.text = stateWords(state === State.Running, state === State.Starting, ours().length);
  status.tooltip = "tclint: findings in this file. Click for the output of the server.";
  status.show();
}

function count(): void {
  if (client !== undefined) {
    show(client.state);
  }
}

function ours(): vscode.Diagnostic[] {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri === undefined ? [] : vscode.languages.getDiagnostics(uri).filter((each) => each.source === "tclint");
}

async function fixAll(): Promise<void> {
  await vscode.commands.executeCommand("editor.action.codeAction", { kind: "source.fixAll.tclint", apply: "first" });
}

// The page of the rule under the cursor, or of one that is named: what `tclint rule CODE` prints, as a document.
async function showRule(named?: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const here = ours().find((each) => editor !== undefined && each.range.contains(editor.selection.active));
  const code = named ?? codeOf(here?.code) ?? (await vscode.window.showInputBox({ prompt: "Code of the rule", value: "TCL101" }));
  if (code === undefined) {
    return;
  }
  const { command } = serverCommand(vscode.workspace.getConfiguration("tclint").get("path", "tclint"), []);
  const { execFile } = await import("node:child_process");
  execFile(command, ["rule", code], { env: { ...process.env, NO_COLOR: "1" } }, async (error, page, trouble) => {
    if (error !== null) {
      await vscode.window.showErrorMessage(trouble.trim() || String(error));
      return;
    }
    const document = await vscode.workspace.openTextDocument({ content: page, language: "markdown" });
    await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  });
}
