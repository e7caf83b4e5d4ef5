import { expect, test } from "vitest";
import { exchange } from "../../../src/protocols/mcp/exchange.ts";
import { newMessage, oldMessage } from "./messages.ts";

test.each([newMessage, oldMessage])(
  "an MCP request that the SDK cannot answer is logged as a server error with the SDK's error",
  async (message) => {
    const { headers, body } = message("ping");
    const peer = {
      left: new AbortController().signal,
      get refused(): never {
        throw new Error("no peer");
      },
    };
    const request = { headers: Object.fromEntries(new Headers(headers)) };
    await expect(exchange(request as never, body, peer as never, "1")).rejects.toThrow("no peer");
  },
);
