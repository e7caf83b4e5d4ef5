import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { rpcProtocols } from "./all-protocols.ts";
import { startFen } from "./cases/case.ts";
import { json } from "./clients/json.ts";

const busy = { isLasting: () => true, [Symbol.dispose]() {} };
const app = useApp({ KIBITZ_ACCESS: "public" }, { engines: createEnginesInProcess(), lag: busy });

describe("a server with a busy event loop", () => {
  test.each([json, ...rpcProtocols])(
    "a server with a busy event loop refuses an analysis through $name before reading the body",
    async ({ open }) => {
      await using protocol = open(app.url);
      expect(await protocol.call("evaluate", { fen: startFen, depth: 1 })).toMatchObject({
        kind: "refusal",
        refusal: {
          code: "overloaded",
          nextAction: "retry_later",
          message: "The server is too busy to read this request.",
        },
      });
    },
  );

  test("a server with a busy event loop answers probes", async () => {
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${app.url}/readyz`)).status).toBe(200);
  });
});
