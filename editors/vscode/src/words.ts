// What needs no editor: it is tested by itself.

export interface Command {
  command: string;
  args: string[];
}

export function serverCommand(path: string, args: string[]): Command {
  return { command: path.trim() || "tclint", args: ["server", ...args] };
}

export function stateWords(running: boolean, starting: boolean, findings: number): string {
  if (starting) {
    return "$(sync~spin) tclint";
  }
  if (!running) {
    return "$(error) tclint: not running";
  }
  return findings === 0 ? "$(check) tclint" : `$(flame) tclint: ${findings} finding${findings === 1 ? "" : "s"}`;
}

// A diagnostic's code is a number, a text, or either with the address of its page.
export function codeOf(code: unknown): string | undefined {
  if (typeof code === "object" && code !== null && "value" in code) {
    return codeOf((code as { value: unknown }).value);
  }
  return typeof code === "string" || typeof code === "number" ? String(code) : undefined;
}
