import { connect as connect1 } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { json } from "./clients/json.ts";
import { post } from "./post.ts";
import type { Answered, Plain } from "./protocol.ts";
import { type StreamClient, streamClients } from "./stream-clients.ts";
import { watchWork } from "./watch-work.ts";

const engines = createEnginesInProcess({ quickPlies: 12, nodesAPly: 500 });
const { expectNoWork } = watchWork(engines);
const app = useApp({ KIBITZ_SLOTS: "1" }, { engines });
const never = new AbortController().signal;

type Search = Plain & { readonly depth: number };
const searchOf = (state: Plain): Search => state.search as Search;
/**
 * Removes the queue positions from a stream. A stream has queue positions if a search of the previous test is still running.
 */
const evaluationsOf = (events: readonly Plain[]): readonly Plain[] =>
  events.flatMap(({ evaluation }) => (evaluation ? [evaluation as Plain] : []));

function lasting({ id: _, search, ...rest }: Plain): Plain {
  const { time_ms: _ms, nps: _nps, queue_ms: _queue, cached: _cached, ...counters } = search as Plain;
  return { ...rest, search: counters };
}

describe.each(streamClients)("$name", (kind) => {
  const { open } = kind;
  // Without a cache, a repeated request is searched again. A cached result has no intermediate states.
  const fen = startFen.replace(/1$/, String(1 + streamClients.indexOf(kind)));
  const request = { fen, depth: 10, multipv: 2 };
  let client: StreamClient;
  beforeAll(() => {
    client = open(app.url);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  test(`a stream over ${kind.name} has one complete evaluation for each depth, and the last evaluation equals the unary answer`, async () => {
    const states = evaluationsOf(await Array.fromAsync(client.stream("streamEvaluate", request, never)));
    const depths = states.map((state) => searchOf(state).depth);
    expect(depths).toEqual([...new Set(depths)].toSorted((a, b) => a - b));
    expect(depths.at(-1)).toBe(10);
    expect(new Set(states.map(({ id }) => id)).size).toBe(1);
    expect(states.length).toBeGreaterThan(1);
    for (const state of states.slice(0, -1)) {
      expect(searchOf(state)).not.toHaveProperty("stop_reason");
      expect(state).toMatchObject({
        lines: [{ rank: 1 }, { rank: 2 }],
        best_move: { uci: expect.any(String) },
      });
    }
    const [last] = states.slice(-1);
    const unary = (await json.open(app.url).call("evaluate", request)) as Answered;
    expect(lasting(last ?? {})).toEqual(lasting(unary.answer));
  });

  test(`a stream over ${kind.name} has one evaluation for a finished game`, async () => {
    const mated = { fen: "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3" };
    const events = await Array.fromAsync(client.stream("streamEvaluate", mated, never));
    expect(events).toMatchObject([{ evaluation: { terminal: {} } }]);
  });

  test(`a stream over ${kind.name} reports an error before the first evaluation`, async () => {
    const states = client.stream("streamEvaluate", { fen: "8/8/8/8/8/8/8/8 w - - 0 1" }, never);
    const thrown = await Array.fromAsync(states).catch((error) => error);
    expect(kind.refusalOf(thrown)).toMatchObject({
      code: "illegal_position",
      violations: [{ pointer: "/fen" }, { pointer: "/fen" }],
    });
  });
});

/** These tests run with one client, because no protocol changes which states are in a stream. */
describe.each(streamClients.slice(0, 1))("$name", ({ open }) => {
  const fen = startFen.replace(/1$/, "99");

  test("a stream with a node limit has one evaluation for each depth, and the last evaluation equals the unary answer", async () => {
    await using client = open(app.url);
    const byNodes = { fen, nodes: 5000, multipv: 2, search_moves: ["e4", "d4", "Nf3"] };
    const states = evaluationsOf(await Array.fromAsync(client.stream("streamEvaluate", byNodes, never)));
    const [last] = states.slice(-1);
    expect(states.length).toBeGreaterThan(1);
    expect(states.map((state) => searchOf(state).stop_reason ?? null)).toEqual(
      states.map((state) => (state === last ? "nodes" : null)),
    );
    const unary = (await json.open(app.url).call("evaluate", byNodes)) as Answered;
    expect(lasting(last ?? {})).toEqual(lasting(unary.answer));
  });

  test("a stream has only the final evaluation of a cached answer", async () => {
    await using client = open(app.url);
    const request = { fen, depth: 10 };
    await json.open(app.url).call("evaluate", request);
    const events = await Array.fromAsync(client.stream("streamEvaluate", request, never));
    const search = { depth: 10, stop_reason: "depth", cached: true };
    expect(events).toMatchObject([{ evaluation: { search } }]);
  });
});

test("an unread stream does not delay other requests", async () => {
  const body = JSON.stringify({ fen: startFen, depth: 12, multipv: 10 });
  const socket = connect1(Number(new URL(app.url).port), "127.0.0.1");
  socket.pause();
  socket.write(
    `POST /v1/eval/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await sleep(200);
  const answer = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 3 });
  expect(answer.status).toBe(200);
  socket.destroy();
  await expectNoWork();
});
