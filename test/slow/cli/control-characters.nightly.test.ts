import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { createLog } from "../../../src/log/create-log.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { settings } from "../../../src/wiring/settings.ts";
import { runKibitz } from "../../cli/run-kibitz.ts";

/** Sets the title of a terminal, changes its colour, and reverses the direction of text. */
const hostile = "\u001b]0;x\u0007\u009b31m\u202e\u2028";

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are searched for.
const raw = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const keys = Object.values(settings).map(({ key }) => key);

function isRefused(key: string): boolean {
  try {
    loadConfig({ [key]: hostile });
    return false;
  } catch {
    return true;
  }
}

test.each(keys.filter(isRefused))("the error about %s does not print control characters", async (key) => {
  for (const command of ["serve", "doctor"]) {
    const { code, stdout, stderr } = await runKibitz([command], { [key]: hostile });
    expect(code).toBe(1);
    expect(stderr).toContain(key);
    expect(stdout + stderr).not.toMatch(raw);
  }
});

test.each(keys.filter((key) => !isRefused(key)))(
  "kibitz doctor does not print the control characters of %s",
  async (key) => {
    const { stdout, stderr } = await runKibitz(["doctor"], { [key]: hostile });
    expect(stdout + stderr).not.toMatch(raw);
  },
);

test.each(["KIBITZ_DEFAULT_ENGINE", "KIBITZ_PLANS", "KIBITZ_HOST"])(
  "a server that cannot start because of %s prints no control characters",
  async (key) => {
    const { code, stdout, stderr } = await runKibitz(["serve"], { [key]: hostile });
    expect(code).toBe(1);
    expect(stdout + stderr).not.toMatch(raw);
  },
);

test.each([
  ["an unknown setting", ["doctor"], { [`KIBITZ_${hostile}`]: "1" }],
  ["a data folder", ["keys", "create"], { KIBITZ_DATA_DIR: `/tmp/kibitz-none/${hostile}` }],
  ["a command", [hostile], {}],
  ["an option", ["eval", `--${hostile}`], {}],
  ["a file", ["eval", "--file", hostile], {}],
  ["a game file", ["review", hostile], {}],
  ["an output file", ["review", "-", "--output", `/tmp/kibitz-none/${hostile}`], {}],
  ["an address", ["eval", "--url", hostile, "startpos"], {}],
  ["a position", ["eval", hostile], {}],
] as const)("a command does not print the control characters of %s", async (_, args, env) => {
  const { stdout, stderr } = await runKibitz(args, env);
  expect(stderr).toContain("kibitz: ");
  expect(stdout + stderr).not.toMatch(raw);
});

test("a log on a terminal does not print the control characters of a message, a field or an error", async () => {
  const terminal = new PassThrough();
  vi.doMock("pino-pretty", async (original) => {
    const { default: pretty } = await original<{ default: (options: object) => unknown }>();
    const toTerminal = (options: object) => pretty({ ...options, colorize: false, destination: terminal });
    return { default: toTerminal };
  });
  const log = await createLog("info", { fd: 1, isTTY: true });
  log.warn({ error: hostile, err: new Error(hostile) }, `a ${hostile} message`);
  vi.doUnmock("pino-pretty");
  const printed = String(terminal.read());
  expect(printed).toContain("message");
  expect(printed).not.toMatch(raw);
});
