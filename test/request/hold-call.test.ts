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
