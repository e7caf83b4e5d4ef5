import { dayMs } from "../storage/key-rules.ts";
import { echo } from "../text/echo.ts";
import { UsageError } from "./command.ts";

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: dayMs };

/** Reads a duration such as `12h` in milliseconds. Throws UsageError. */
export function durationFrom(text: string, option: string, maxMs: number): number {
  const ms = durationOf(text);
  if (ms === undefined || ms > maxMs) {
    const max = `${maxMs / dayMs}d`;
    throw new UsageError(
      `${option} must be a time such as 30m, 12h or 7d, and at most ${max}, not ${echo(text, '"')}`,
    );
  }
  return ms;
}

/** Reads milliseconds since 1970 from an ISO 8601 date or time, or from a duration after `now`. Null for `never`. Throws UsageError. */
export function endFrom(text: string, option: string, now: number): number | null {
  if (text === "never") {
    return null;
  }
  const duration = durationOf(text);
  const end = duration === undefined ? endOf(text) : now + duration;
  if (end === undefined) {
    throw new UsageError(
      `${option} must be never, a time from now such as 90d, a date such as 2030-12-31, or a time such as 2030-12-31T18:00Z, not ${echo(text, '"')}`,
    );
  }
  if (end <= now) {
    throw new UsageError(
      `${option} ${echo(text, '"')} is in the past; kibitz keys revoke ends a key at once`,
    );
  }
  return end;
}

function durationOf(text: string): number | undefined {
  const [, count, unit = ""] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitMs[unit] ?? Number.NaN);
}

/** A date begins at midnight UTC. A time without its zone is ambiguous, and a day such as 30 February does not exist. */
function endOf(text: string): number | undefined {
  const [, day] =
    /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? [];
  const isDay = day !== undefined && new Date(Date.parse(day)).toJSON()?.startsWith(day);
  const ms = Date.parse(text);
  return isDay && !Number.isNaN(ms) ? ms : undefined;
}
