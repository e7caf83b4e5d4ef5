import { describe, expect, test } from "vitest";
import { newMessage, oldMessage, send } from "../../protocols/mcp/messages.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newCaller } from "../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { rpcProtocols } from "./all-protocols.ts";
import { connectBinary, grpc } from "./clients/connect.ts";
import { json } from "./clients/json.ts";
import { post } from "./post.ts";

const plans = usePlansFile({
  id: "keyless",
  limits: { rates: [rateOf("minute", 4, 60), rateOf("errors", 30, 60, "refusal")] },
});
const app = useApp(
  { KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans, KIBITZ_TRUST_PROXY: "127.0.0.1" },
  { engines: createEnginesInProcess() },
);

type Caller = ReturnType<typeof newCaller>;

const review = (request: object, caller: Caller, more: Readonly<Record<string, string>> = {}) =>
  post(`${app.url}/v1/review`, { ...request }, { "Content-Type": "application/json", ...caller, ...more });

async function useUp(caller: Caller): Promise<void> {
  for (let count = 0; count < 4; count++) {
    expect((await review({ moves: ["f3", "e5", "g4", "Qh4#"], depth: 1 }, caller)).status).toBe(200);
  }
}

const noGame = { pgn: "1. e4 e4" };

describe("if the rate limit of a client is used up", () => {
  test.each([json, ...rpcProtocols])(
    "a game through $name is refused before parsing if the rate limit is used up",
    async (kind) => {
      const caller = newCaller();
      await using protocol = kind.open(app.url);
      expect(await protocol.call("reviewGame", noGame, caller)).toMatchObject({
        refusal: { code: "illegal_move" },
      });
      await useUp(caller);
      expect(await protocol.call("reviewGame", noGame, caller)).toMatchObject({
        refusal: { code: "rate_limited" },
      });
    },
  );

  test.each(["text/event-stream", "application/x-ndjson"])(
    "a game through plain JSON as %s is refused before parsing if the rate limit is used up",
    async (accept) => {
      const caller = newCaller();
      await useUp(caller);
      const response = await fetch(`${app.url}/v1/review`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: accept, ...caller },
        body: JSON.stringify(noGame),
      });
      expect([response.status, await response.json()]).toEqual([
        429,
        expect.objectContaining({ code: "rate_limited" }),
      ]);
    },
  );

  test.each([
    ["review_game", noGame],
    ["analyze_position", { ...noGame, ply: 0 }],
    ["play_moves", { moves: ["e4", "e4"] }],
  ])(
    "a game through the tool %s is refused before parsing if the rate limit is used up",
    async (name, args) => {
      const caller = newCaller();
      const call = (message: typeof newMessage) => {
        const { headers, body } = message("tools/call", { name, arguments: args });
        return send(app.url, { headers: { ...headers, ...caller }, body });
      };
      expect(JSON.stringify((await call(newMessage)).body)).toContain("illegal_move");
      await useUp(caller);
      for (const message of [newMessage, oldMessage]) {
        expect(JSON.stringify((await call(message)).body.result)).toContain("rate_limited");
      }
    },
  );
});

describe("a review that is refused after its game was read", () => {
  /** For each file, returns a move of the white pawn and a move of the black pawn. */
  const pushes = (white: number, black: number) =>
    [..."abcdefgh"].flatMap((file) => [`${file}${white}`, `${file}${black}`]);
  const moves = [...pushes(3, 6), ...pushes(4, 5)];
  const oneIsUsed = async (caller: Caller) =>
    expect((await review({ moves: ["e4"], depth: 1 }, caller)).status).toBe(200);

  const long = {
    pgn: `{${"x".repeat(24 * 1024)}} ${moves.join(" ")}`,
    depth: 1,
  };

  /**
   * Expects that the server reads ten games and refuses to read the next game. The error quota is 30 errors. A game of 24 KiB
   * counts as three errors.
   */
  async function expectTenAreRead(ask: () => Promise<string>): Promise<void> {
    for (let count = 0; count < 10; count++) {
      expect(await ask()).toContain("This review counts for 4 requests");
    }
    expect(await ask()).toContain("The limit of 30 refusals in this window is reached");
  }

  test.each([json, connectBinary, grpc])(
    "if a review through $name is refused after the server has read a long game, the refusal counts as several errors in the error quota",
    async (kind) => {
      const caller = newCaller();
      await oneIsUsed(caller);
      await using protocol = kind.open(app.url);
      await expectTenAreRead(async () => JSON.stringify(await protocol.call("reviewGame", long, caller)));
    },
  );

  test("if an MCP tool refuses a review after reading a long game, the refusal counts as several errors in the error quota", async () => {
    const caller = newCaller();
    await oneIsUsed(caller);
    const { headers, body } = newMessage("tools/call", { name: "review_game", arguments: long });
    await expectTenAreRead(async () =>
      JSON.stringify((await send(app.url, { headers: { ...headers, ...caller }, body })).body),
    );
  });

  test("if a review is refused after the server has read a short game, the refusal does not use the error quota", async () => {
    const caller = newCaller();
    await oneIsUsed(caller);
    const short = { moves: moves, depth: 1 };
    for (let count = 0; count < 40; count++) {
      const { body } = await review(short, caller);
      expect(body.detail).toContain("counts for 4 requests");
    }
  });
});
