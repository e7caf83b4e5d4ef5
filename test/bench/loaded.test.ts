import { describe, expect, test } from "vitest";
import { readLoaded } from "../../bench/service/loaded.ts";

const errors = { connect: 0, read: 0, write: 0, status: 0, timeout: 0 };
const told = {
  requests: 3000,
  microseconds: 2_000_000,
  p50: 1500,
  p99: 9250,
  asked: 3009,
  questions: 4000,
  broken: 0,
  errors,
};

/** As wrk prints it: its own lines first, then what the script tells. */
const printed = (changed: Partial<typeof told> = {}) =>
  `Running 2s test @ http://127.0.0.1:1/\n  1 threads and 8 connections\nRequests/sec: 1500\n${JSON.stringify({ ...told, ...changed })}\n`;

describe("what wrk has printed", () => {
  test("is read in seconds and milliseconds", () => {
    expect(readLoaded(printed(), false)).toEqual({ requests: 3000, seconds: 2, p50Ms: 1.5, p99Ms: 9.25 });
  });

  test.each([
    ["a status that is no success", { errors: { ...errors, status: 2 } }, /2 × status/],
    ["a connection that was cut", { errors: { ...errors, read: 1 } }, /1 × read/],
    ["a refusal in an answer with status 200", { broken: 5 }, /5 × broken/],
    ["no answer at all", { requests: 0 }, /no request was answered/],
    ["a new question that is not new", { asked: 4002 }, /only 4000 are different/],
  ])("is a failure with %s", (_, changed, message) => {
    expect(() => readLoaded(printed(changed), false)).toThrow(message);
  });

  test("may tell of questions that come again, where they are meant to", () => {
    expect(readLoaded(printed({ questions: 1 }), true).requests).toBe(3000);
  });

  test("is a failure where the script has told nothing", () => {
    expect(() => readLoaded("unable to connect", false)).toThrow("unable to connect");
  });
});
