import { expect, vi } from "vitest";
import { grpcCaller, jsonCaller, nextQuestion, startTraffic } from "./traffic.ts";

export const patience = { timeout: 60_000, interval: 50 };

/** Runs `happen` while callers send requests. Fails unless every call succeeds. */
export async function answerAllWhile(
  url: string,
  happen: (callsMore: (count: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  using grpc = grpcCaller(url);
  const callers = [...Array.from({ length: 5 }, () => jsonCaller(url)), grpc, grpc];
  const traffic = startTraffic(callers, () => nextQuestion(8));
  const callsMore = async (count: number) => {
    const before = traffic.counts.calls;
    await vi.waitFor(() => expect(traffic.counts.calls).toBeGreaterThan(before + count), patience);
  };
  await callsMore(20);
  await happen(callsMore);
  await traffic.stop();
  expect(traffic.failures).toEqual([]);
}
