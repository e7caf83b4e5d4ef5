import { describe, expect, test } from "vitest";
import { createKeptList } from "../../../src/protocols/mcp/kept-list.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { newMessage, oldMessage, send } from "./messages.ts";

type Plain = Readonly<Record<string, unknown>>;

function asked(answer: (body: Plain) => Response) {
  const bodies: Plain[] = [];
  const list = createKeptList();
  const ask = (body: Plain, headers: Record<string, string> = {}) =>
    list(new Request("http://x/mcp", { headers }), body, async (sent) => {
      bodies.push(sent);
      return answer(sent);
    });
  return { ask, bodies };
}

const request = { jsonrpc: "2.0", method: "tools/list" };

test("the list of tools is made once for each form of the request, whatever its id", async () => {
  const { ask, bodies } = asked(({ id }) => Response.json({ id, result: { tools: [] } }, { status: 200 }));
  for (const id of [1, 2, 'a "quoted" id']) {
    const answer = await ask({ ...request, id });
    expect(answer?.headers.get("content-type")).toBe("application/json");
    expect(await answer?.json()).toEqual({ id, result: { tools: [] } });
  }
  expect(bodies).toHaveLength(1);
  await ask({ ...request, id: 1 }, { "mcp-protocol-version": "2025-11-25" });
  await ask({ ...request, id: 1, params: { cursor: "x" } });
  expect(bodies).toHaveLength(3);
});

test.each([200, 400])("a refusal to list the tools is not kept, with the status %i", async (status) => {
  const { ask, bodies } = asked(({ id }) => Response.json({ id, error: {} }, { status }));
  expect(await ask({ ...request, id: 1 })).toBeUndefined();
  expect(await ask({ ...request, id: 1 })).toBeUndefined();
  expect(bodies).toHaveLength(2);
});

test.each([
  ["another method", { jsonrpc: "2.0", method: "ping", id: 1 }],
  ["a notification", request],
  ["an id that is none", { ...request, id: [1] }],
  ["a long request", { ...request, id: 1, params: { _meta: { x: "x".repeat(2000) } } }],
])("the kept list of tools is not used if the request is %s", async (_, body) => {
  const { ask, bodies } = asked(() => Response.json({}));
  expect(await ask(body)).toBeUndefined();
  expect(bodies).toEqual([]);
});

describe("over HTTP", () => {
  const app = useApp({}, { engines: createEnginesInProcess() });

  test.each([oldMessage, newMessage])(
    "the kept list of tools over HTTP equals the list of the SDK, with the id of the request",
    async (message) => {
      const first = message("tools/list");
      const second = { ...first, body: { ...first.body, id: "another" } };
      const answers = [await send(app.url, first), await send(app.url, second)];
      expect(answers.map(({ status, body }) => [status, body.id])).toEqual([
        [200, 1],
        [200, "another"],
      ]);
      expect(answers[1]?.body.result).toEqual(answers[0]?.body.result);
      expect(answers[1]?.headers.get("content-type")).toBe(answers[0]?.headers.get("content-type"));
    },
  );
});
