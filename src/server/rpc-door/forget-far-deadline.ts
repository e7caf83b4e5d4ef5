import type { NodeRequest } from "../node-message.ts";

/** The longest that a timer of Node counts, 24 days: it takes more for one millisecond. */
const timerMaxMs = 2 ** 31 - 1;

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Takes a deadline that is too far away for Node out of the headers of an RPC: no call lasts that long. Connect hands
 * it to a timer as it is (connect 2.2.0), and `grpc-timeout: 99999999H`, as clients write "none", was over at once.
 */
export function forgetFarDeadline({ headers }: NodeRequest): void {
  for (const name of ["connect-timeout-ms", "grpc-timeout"]) {
    const [, digits, unit = "m"] = /^(\d{1,10})([HMSmun])?$/.exec(String(headers[name])) ?? [];
    if (Number(digits) * (unitMs[unit] ?? 1) > timerMaxMs) {
      delete headers[name];
    }
  }
}
