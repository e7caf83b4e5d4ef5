import { expect, test, vi } from "vitest";
import type { EngineBackend } from "../../../src/engine/engine.ts";
import { analyzePosition } from "../../../src/protocols/mcp/tools/analyze-position.ts";
import { playMoves } from "../../../src/protocols/mcp/tools/play-moves.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { newMessage, send } from "./messages.ts";

let isSearchBroken = false;
const inProcess = createEnginesInProcess();
const engines: EngineBackend = {
  ...inProcess,
  async start(build, signal) {
    const session = await inProcess.start(build, signal);
    const search = session.search.bind(session);
    session.search = async (...asked) => {
      if (isSearchBroken) {
        throw new Error("the search is broken");
      }
      return search(...asked);
    };
    return session;
  },
};
const app = useApp({ KIBITZ_ACCESS: "public" }, { engines, mayFail: true });

/** Calls a tool with a request id, and returns the text of the result and the log lines of the request. */
async function ask(requestId: string, name: string, args: object) {
  const message = newMessage("tools/call", { name, arguments: args }, { "X-Request-Id": requestId });
  const { status, body } = await send(app.url, message);
  const { content, isError } = body.result as {
    readonly content: readonly { readonly text: string }[];
    readonly isError?: boolean;
  };
  const logged = app.logged.filter((line) => "requestId" in line && line.requestId === requestId);
  return { status, isError, text: content[0]?.text, logged };
}

const internal = "Not answered (internal): Something failed inside the service.";

test.each([
  [analyzePosition, { depth: 1 }, "Evaluate"],
  [playMoves, { moves: ["e4"] }, "PlayMoves"],
] as const)(
  "a failure of an MCP tool after its search has finished is logged as an error with the request id: $name",
  async (tool, args, method) => {
    const call = tool.call;
    using broken = vi.spyOn(tool, "call").mockImplementation(async (...given) => {
      await call(...given);
      throw new Error("the tool is broken");
    });
    const { status, isError, text, logged } = await ask(`after-${method}`, tool.name, args);
    expect(broken).toHaveBeenCalledOnce();
    expect([status, isError, text]).toEqual([200, true, internal]);
    expect(logged).toEqual([
      expect.objectContaining({ message: "call", method, code: "ok" }),
      expect.objectContaining({
        level: "error",
        message: "a tool failed",
        err: expect.objectContaining({ message: "the tool is broken" }),
      }),
    ]);
  },
);

test("an internal error in an MCP call is logged once, and the details of the error are not shown to the model", async () => {
  isSearchBroken = true;
  const { isError, text, logged } = await ask("in-service", "analyze_position", { moves: ["e4"] });
  isSearchBroken = false;
  expect([isError, text]).toEqual([true, internal]);
  expect(logged).toEqual([
    expect.objectContaining({ level: "error", message: "call", method: "Evaluate", code: "internal" }),
  ]);
});
