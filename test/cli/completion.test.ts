import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { manual } from "../../tools/manual.ts";
import { runKibitz } from "./run-kibitz.ts";

/** What bash would offer for the last of these words. */
function offered(script: string, ...words: readonly string[]): readonly string[] {
  const line = words.map((word) => `"${word}"`).join(" ");
  const asked = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _kibitz; echo "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", asked], { encoding: "utf8" }).trim().split(" ").filter(Boolean);
}

test("kibitz completion bash completes commands, their words and their options", async () => {
  const { stdout: script, code } = await runKibitz(["completion", "bash"]);
  expect(code).toBe(0);
  expect(offered(script, "kibitz", "e")).toEqual(["eval", "engines"]);
  expect(offered(script, "kibitz", "keys", "c")).toEqual(["create"]);
  expect(offered(script, "kibitz", "eval", "--mult")).toEqual(["--multipv"]);
  expect(offered(script, "kibitz", "nonsense", "--")).toEqual([]);
});

test.each(["zsh", "fish"])("kibitz completion %s knows every command", async (shell) => {
  const { stdout } = await runKibitz(["completion", shell]);
  for (const name of ["serve", "eval", "bestmove", "review", "uci", "engines", "doctor", "keys"]) {
    expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
  }
  expect(stdout).toContain("multipv");
});

test("kibitz completion lists the shells that it supports", async () => {
  const { code, stderr } = await runKibitz(["completion", "csh"]);
  expect([code, stderr]).toEqual([
    2,
    "kibitz: give one of bash, zsh, fish\n\nSee kibitz completion --help\n",
  ]);
});

test("the manual has every command, option and setting, and no text that roff would take for a request", async () => {
  const page = await manual();
  expect(page).toContain(".SS kibitz eval <fen>");
  expect(page).toMatch(/^\.B .*\\-\\-multipv <\w+>$/m);
  expect(page).toContain(".B KIBITZ_SLOTS");
  const requests = new Set(page.match(/^[.']\S*/gm));
  expect([...requests].toSorted()).toEqual([".B", ".PP", ".RI", ".SH", ".SS", ".TH", ".TP", ".fi", ".nf"]);
});
