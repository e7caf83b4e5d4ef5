import { expect, test } from "vitest";
import { createHttpHandler } from "../../../src/protocols/mcp/http-handler.ts";
import { newMessage, oldMessage } from "./messages.ts";

test.each([newMessage, oldMessage])(
  "each of two MCP requests that fail at the same time has its own error for the log",
  async (message) => {
    const handler = createHttpHandler("1");
    const { headers, body } = message("ping");
    const answers = ["one", "other"].map((name) => {
      const peer = {
        get refused(): never {
          throw new Error(name);
        },
      };
      const request = new Request("http://localhost/mcp", { method: "POST", headers });
      return handler.answer(request, body, peer as never);
    });
    const failures = (await Promise.all(answers)).map(({ response, error }) => [
      response.status,
      error?.message,
    ]);
    expect(failures).toEqual([
      [500, "one"],
      [500, "other"],
    ]);
  },
);
