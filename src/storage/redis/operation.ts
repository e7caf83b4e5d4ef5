import { SpanKind } from "@opentelemetry/api";
import type { Meter } from "../../metrics/meter.ts";
import { inSpan } from "../../tracing/spans.ts";
import { StoreUnavailable } from "../ports.ts";

/** Redis was not asked, has not answered, or refuses. */
export class RedisUnavailable extends StoreUnavailable {
  /** What the reason is called, of which there are few: `away` where Redis was not asked, `timeout`, `oom`. */
  readonly reason: string;

  constructor(why: string, reason: string) {
    super(`Redis: ${why}`);
    this.reason = reason;
  }
}

/**
 * Runs, counts and traces one operation of Redis.
 *
 * @param command in capitals, as `GET`
 * @param script the name of the script that the command runs
 */
type Operate = <T>(command: string, script: string | undefined, work: () => Promise<T>) => Promise<T>;

export function createOperations(meter: Pick<Meter, "redisOperation"> | undefined): Operate {
  return async (command, script, work) => {
    const name = script ?? command.toLowerCase();
    const startedAt = performance.now();
    const told = (failure: string | undefined) =>
      meter?.redisOperation({ name, seconds: (performance.now() - startedAt) / 1000, failure });
    try {
      const answer = await inSpan(
        script === undefined ? command : `${command} ${script}`,
        {
          kind: SpanKind.CLIENT,
          // The conventions of databases have more: they would show what is asked about.
          attributes: {
            "db.system.name": "redis",
            "db.operation.name": command,
            "db.stored_procedure.name": script,
          },
        },
        work,
      );
      told(undefined);
      return answer;
    } catch (error) {
      told(error instanceof RedisUnavailable ? error.reason : "other");
      throw error;
    }
  };
}
