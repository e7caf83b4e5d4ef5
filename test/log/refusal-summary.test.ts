import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createReportCall } from "../../src/calls/report-call.ts";
import { createCallLine } from "../../src/log/call-line.ts";
import { type LogFields, silentLog } from "../../src/log/log.ts";
import { localContext } from "../../src/request/context.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function start() {
  const lines: (readonly [string, LogFields])[] = [];
  const keep = (fields: LogFields, message: string) => void lines.push([message, fields]);
  const counted: (string | undefined)[] = [];
  const meter = { call: ({ code }: { readonly code: string }) => counted.push(code) };
  const log = { ...silentLog, info: keep, error: keep };
  const report = createReportCall(createCallLine(log, "none"), meter);
  const call = (code: string, times: number) => {
    for (let count = 0; count < times; count++) {
      report(localContext(), { code, startedAt: 0, address: "", fields: {} });
    }
  };
  return { lines, counted, call };
}

test("of the refused calls of a second, 100 have a line of their own, and one line counts the others by code", () => {
  const { lines, counted, call } = start();
  call("not_found", 99);
  call("rate_limited", 31);
  call("not_found", 5);
  expect(lines).toHaveLength(100);
  vi.advanceTimersByTime(1000);
  expect(lines.slice(100)).toEqual([
    ["refused calls without a line of their own", { count: 35, codes: { rate_limited: 30, not_found: 5 } }],
  ]);
  call("not_found", 1);
  vi.advanceTimersByTime(1000);
  expect(lines).toHaveLength(102);
  expect(counted).toHaveLength(136);
});

test("every answered, canceled and failed call has a line of its own", () => {
  const { lines, call } = start();
  for (const code of ["ok", "canceled", "internal"]) {
    call(code, 200);
  }
  vi.advanceTimersByTime(1000);
  expect(lines).toHaveLength(600);
});
