import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runKibitz } from "../../cli/run-kibitz.ts";
import { startUci } from "../../cli/uci/start-session.ts";
import { newMessage, send } from "../../protocols/mcp/messages.ts";
import { describeFakeLc0 } from "../../support/fake-engine/index.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { rpcProtocols } from "./all-protocols.ts";
import { startFen } from "./cases/case.ts";
import { json } from "./clients/json.ts";
import type { Plain, Protocol } from "./protocol.ts";
import { statuses } from "./statuses.ts";

const folder = useTemporaryFolder();
const env = { KIBITZ_ENGINES: describeFakeLc0(folder) };
const app = useApp(env);

const wayOut = /`nodes` \(100 by default\) or `movetime_ms`/;
const start = { fen: "startpos", engine: "leela" };

/** The answer to a request without limits. */
const byDefault = {
  engine: { id: "leela", path: "native" },
  search: { deterministic: false, cached: false, stop_reason: "nodes", limits: { nodes: 100 } },
};

/** Each search of the engine has another score, so answers with equal scores would come from one search. */
const expectOwnSearches = (answers: readonly Plain[]) => {
  const scores = answers.map(({ score }) => (score as { readonly cp: number }).cp);
  expect(new Set(scores).size).toBe(answers.length);
};

describe.each([json, ...rpcProtocols])("an engine without depth through $name", (kind) => {
  let protocol: Protocol;
  beforeAll(() => {
    protocol = kind.open(app.url);
  });
  afterAll(() => protocol[Symbol.asyncDispose]());
  const answerTo = async (...asked: Parameters<Protocol["call"]>) => {
    const outcome = await protocol.call(...asked);
    return outcome.kind === "answer" ? outcome.answer : expect.fail(JSON.stringify(outcome));
  };

  test("a depth is refused with the limits to use instead", async () => {
    expect(await protocol.call("evaluate", { ...start, depth: 5 })).toMatchObject({
      kind: "refusal",
      status: statuses.out_of_range?.[kind === json ? 0 : 1],
      refusal: {
        code: "out_of_range",
        violations: [{ pointer: "/depth", message: expect.stringMatching(wayOut) }],
      },
    });
  });

  test("equal requests without limits are searched by the default limit, and share neither a search nor a cached answer", async () => {
    const answers = await Promise.all([1, 2].map(() => answerTo("evaluate", start)));
    answers.push(await answerTo("evaluate", start));
    for (const answer of answers) {
      expect(answer).toMatchObject(byDefault);
      expect(answer).not.toHaveProperty("search.limits.depth");
    }
    expectOwnSearches(answers);
  });

  test("a review warns that it is not reproducible", async () => {
    const request = { moves: ["e4", "e5"], engine: "leela" };
    expect(await answerTo("reviewGame", request)).toMatchObject({
      review: {
        search: { searched: 3, cached: 0, deterministic: false, limits: { nodes: 100 } },
        warnings: [{ code: "not_reproducible" }],
      },
    });
    expect(await protocol.call("reviewGame", { ...request, depth: 5 })).toMatchObject({
      refusal: { code: "out_of_range", violations: [{ pointer: "/depth" }] },
    });
  });

  test("the engines list the default limit, and an engine that was left out with its reason", async () => {
    const { engines } = await answerTo("listEngines", {});
    expect(engines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: "leela", reproducible: false, default_limit: { nodes: 100 } }),
        expect.objectContaining({
          id: "gone",
          paths: [
            expect.objectContaining({
              available: false,
              unavailable_reason: "the command missing does not exist.",
            }),
          ],
        }),
      ]),
    );
  });
});

describe("a latest engine without depth through MCP", () => {
  const app = useApp({ ...env, KIBITZ_DEFAULT_ENGINE: "leela" });
  const callTool = async (name: string, args: Plain) => {
    const { body } = await send(app.url, newMessage("tools/call", { name, arguments: args }));
    return body.result as {
      readonly isError?: boolean;
      readonly content: readonly { readonly text: string }[];
      readonly structuredContent: Plain;
    };
  };

  test("a depth is refused with the limits to use instead", async () => {
    const { isError, content } = await callTool("analyze_position", { depth: 5 });
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(wayOut);
  });

  test("equal requests without limits are searched by the default limit, and share neither a search nor a cached answer", async () => {
    const asked = [1, 2].map(() => callTool("analyze_position", {}));
    const answers = (await Promise.all(asked)).map(({ structuredContent }) => structuredContent);
    for (const answer of answers) {
      expect(answer).toMatchObject({ nodes: 100, engine: expect.stringContaining("Lc0") });
    }
    expectOwnSearches(answers);
  });

  test("a review warns that it is not reproducible", async () => {
    const { structuredContent, content } = await callTool("review_game", {
      moves: ["e4", "e5"],
    });
    expect(structuredContent.warnings).toEqual([expect.stringMatching(/Equal searches .* may differ/)]);
    expect(content[0]?.text).toMatch(/Equal searches .* may differ/);
  });
});

describe.each(["local", "--url"])("an engine without depth through the command line, %s", (where) => {
  const kibitz = (...args: readonly string[]) =>
    where === "local"
      ? runKibitz([...args, "--engine", "leela"], env)
      : runKibitz([...args, "--engine", "leela", "--url", app.url]);

  test("kibitz eval sends no depth by default, and refuses a depth with the limits to use instead", async () => {
    const { code, stdout } = await kibitz("eval", "startpos", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...byDefault,
      search: { ...byDefault.search, limits: { nodes: 100, depth: null } },
    });
    const refused = await kibitz("eval", "startpos", "--depth", "5");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(wayOut);
  });

  test("kibitz eval of a file searches every position by the default limit, also equal positions", async () => {
    const file = join(folder, "positions.epd");
    writeFileSync(file, `${startFen}\n`.repeat(2));
    const { code, stdout } = await kibitz("eval", "--file", file, "--json");
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly result: Plain }).result);
    expect(code).toBe(0);
    expect(answers).toMatchObject([byDefault, byDefault]);
    expectOwnSearches(answers);
  });

  test("kibitz uci searches by the default limit instead of a depth, and says so", async () => {
    const args = ["--engine", "leela", ...(where === "local" ? [] : ["--url", app.url])];
    const uci = startUci(args, "uci", env);
    uci.say("position startpos", "go depth 5");
    const heard = await uci.until(/^bestmove [a-h]/);
    expect(heard).toContainEqual(expect.stringMatching(/^info string go depth 5: .*its default limit/));
    expect(heard.at(-2)).toMatch(/ nodes 100 /);
    uci.hangUp();
    expect(await uci.ended).toBe(0);
  });

  test("kibitz engines lists the default limit, and an engine that was left out with its reason", async () => {
    const { stdout } = await runKibitz(["engines", ...(where === "local" ? [] : ["--url", app.url])], env);
    expect(stdout).toMatch(
      /^leela\n(?: .*\n)*? {2}limit {4}nodes 100\n {2}results {2}equal searches may differ\n/m,
    );
    expect(stdout).toMatch(
      /^gone\n(?: .*\n)*? {2}missing {2}native: the command missing does not exist\.\n/m,
    );
  });

  test("kibitz review sends no depth by default, and prints the warning", async () => {
    const file = join(folder, "game.pgn");
    writeFileSync(file, "1. e4 e5 *\n");
    const { code, stdout, stderr } = await kibitz("review", file);
    expect(code).toBe(0);
    expect(stdout + stderr).toMatch(/Equal searches .* may differ/);
    const depth = await kibitz("review", file, "--depth", "5");
    expect(depth.code).toBe(2);
    expect(depth.stderr + depth.stdout).toMatch(wayOut);
  });
});
