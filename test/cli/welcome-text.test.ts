import { expect, test } from "vitest";
import { welcomeText } from "../../src/cli/welcome-text.ts";

const status = {
  url: "http://127.0.0.1:8080",
  engines: ["stockfish-19", "stockfish-19-lite"],
  slots: 2,
  access: "public",
  degraded: [],
} as const;

test("a server that is started in a terminal says in six lines what it offers", () => {
  expect(welcomeText(status, { page: "on" }).split("\n")).toEqual([
    "  Where     http://127.0.0.1:8080 (in a browser, too)",
    "  Engines   stockfish-19 (default), stockfish-19-lite",
    "  Searches  2 at a time",
    "  Callers   everybody, with higher limits for keys (public)",
    "  Degraded  nothing",
    `  Try       curl http://127.0.0.1:8080/v1/eval -H 'Content-Type: application/json' -d '{"fen": "startpos"}'`,
    "",
  ]);
});

test("the welcome text says what is degraded, and which callers are refused", () => {
  const text = welcomeText({ ...status, access: "keys", degraded: ["store"] }, { page: "off" });
  expect(text).toContain("store: the log says why");
  expect(text).toContain("kibitz keys create");
  expect(text).not.toContain("browser");
});
