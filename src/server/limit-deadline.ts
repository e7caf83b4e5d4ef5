/** The longest that Node's timers wait. What is longer they take for 1 ms, and Connect (2.2.0) hands it to them. */
const timerMaxMs = 2 ** 31 - 1;

const unitsMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000 };

/** Takes the deadline out of the headers of a call that gives itself weeks: no call takes so long. */
export function limitDeadline(header: Headers): void {
  const [, count, unit = ""] = /^(\d{1,8})([HMS])$/.exec(header.get("grpc-timeout") ?? "") ?? [];
  if (Number(count) * (unitsMs[unit] ?? 0) > timerMaxMs) {
    header.delete("grpc-timeout");
  }
  const milliseconds = header.get("connect-timeout-ms") ?? "";
  if (/^\d{1,10}$/.test(milliseconds) && Number(milliseconds) > timerMaxMs) {
    header.delete("connect-timeout-ms");
  }
}
