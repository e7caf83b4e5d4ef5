import { expect, test, vi } from "vitest";
import { serve } from "../../support/served.ts";

const preload = new URL("../../faults/throw-on-signal.ts", import.meta.url).href;

test("an error of no request is an orderly stop: calls in flight are answered, and the exit code is 1", async () => {
  const unhandled: string[] = [];
  const server = await serve(
    { NODE_OPTIONS: `--import=${preload}` },
    { onUnhandled: (line) => void unhandled.push(line) },
  );
  const body = JSON.stringify({ fen: "startpos", depth: 30, movetime_ms: 1500 });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${server.url}/v1/eval/stream`, { method: "POST", headers, body });
  process.kill(server.pid, "SIGUSR2");
  await vi.waitFor(() => expect(unhandled).toHaveLength(1));
  process.kill(server.pid, "SIGUSR2");
  expect(await answer.text()).toContain("event: done");
  expect(await server.ended).toBe(1);
  expect(server.logged.at(-1)).toMatchObject({ msg: "stopped", unhandled: 2 });
  expect(unhandled.map((line) => JSON.parse(line).msg)).toEqual([
    "an error outside of every request: stopping",
    "an error outside of every request: stopping",
    "stopped",
  ]);
  expect(server.logged.filter(({ err }) => err)).toHaveLength(2);
});
