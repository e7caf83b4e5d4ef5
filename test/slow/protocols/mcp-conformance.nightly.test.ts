import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

/**
 * The scenarios of the official MCP test suite that run here, by version of MCP. Most other scenarios need special tools that
 * Kibitz does not have.
 */
const scenarios: Readonly<Record<string, readonly string[]>> = {
  "2025-11-25": ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
  "2026-07-28": [
    "server-stateless",
    "tools-list",
    "server-sse-multiple-streams",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "dns-rebinding-protection",
  ],
};

/** The checks in these scenarios that fail here, because they need a special tool of the test suite. */
const checksOfMissingTools = [
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-server-no-log-without-loglevel",
];

const app = useApp({}, { engines: createEnginesInProcess() });
const suite = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");
const program = suite.replace(/package\.json$/, "dist/index.js");
const cwd = useTemporaryFolder();

async function checksOf(scenario: string, version: string) {
  const args = ["server", "--url", `${app.url}/mcp`, "--spec-version", version, "--scenario", scenario];
  // The suite exits with 1 if a check fails.
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { cwd }).catch(
    (thrown: { readonly stdout: string }) => thrown,
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of its lines.
  const lines = stdout.replaceAll(/\x1b\[\d+m/g, "").matchAll(/^\S+Z \[(\S+)\s*\] (\w+)/gm);
  return [...lines].map(([, name = "", verdict = ""]) => ({ name, verdict }));
}

describe.each(Object.entries(scenarios))("by the specification of %s", (version, names) => {
  test.each(names)(`the server conforms to MCP ${version}: %s`, async (scenario) => {
    const checks = await checksOf(scenario, version);
    expect(checks.filter(({ verdict }) => verdict === "SUCCESS")).not.toEqual([]);
    const failed = checks.filter(({ verdict }) => verdict === "FAILURE").map(({ name }) => name);
    expect(failed.filter((name) => !checksOfMissingTools.includes(name))).toEqual([]);
  });
});
