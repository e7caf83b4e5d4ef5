import { expect, test, vi } from "vitest";
import {
  ClientDisconnected,
  closeCall,
  createOutcome,
  holdCall,
  refuseDisconnected,
  releaseAtEnd,
  releaseWithCall,
} from "../../src/request/context.ts";

test("a call ends when its response is closed and no task holds the call", () => {
  const outcome = createOutcome();
  const release = vi.fn();
  releaseAtEnd(outcome, release);
  const first = holdCall(outcome);
  const second = holdCall(outcome);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  closeCall(outcome);
  expect(release).not.toHaveBeenCalled();
  second[Symbol.dispose]();
  expect(release).toHaveBeenCalledOnce();
});

test("a call does not end before its response is closed, even if no task holds the call", () => {
  const outcome = createOutcome();
  const release = vi.fn();
  releaseAtEnd(outcome, release);
  holdCall(outcome)[Symbol.dispose]();
  expect(release).not.toHaveBeenCalled();
  closeCall(outcome);
  expect(release).toHaveBeenCalledOnce();
});

test("while a task holds a call, the task can see that the client has disconnected", () => {
  const outcome = createOutcome();
  using _ = holdCall(outcome);
  expect(() => refuseDisconnected(outcome)).not.toThrow();
  closeCall(outcome);
  expect(() => refuseDisconnected(outcome)).toThrow(ClientDisconnected);
});

test("a limit is released at once if no handler got the request", () => {
  const release = vi.fn();
  releaseWithCall({}, release);
  expect(release).toHaveBeenCalledOnce();
});

test("at the end of a call, all limits are released in order, even if one release throws", () => {
  const outcome = createOutcome();
  const released: string[] = [];
  releaseAtEnd(outcome, () => released.push("first"));
  releaseAtEnd(outcome, () => {
    throw new Error("a release failed");
  });
  releaseAtEnd(outcome, () => released.push("last"));
  expect(() => closeCall(outcome)).toThrow("a release failed");
  expect(released).toEqual(["first", "last"]);
});
