import { type Client, failureOf, Silence, within } from "./client.ts";
import { isTooOld, type RedisFailure, TooOld } from "./explain-failure.ts";

/**
 * Writes once, to see whether that can be done.
 *
 * @param maxMs how long the answer is waited for
 * @returns what keeps Redis from keeping anything for now
 * @throws what makes it no use at all
 */
export async function probeWriting(
  client: Client,
  key: string,
  maxMs: number,
): Promise<RedisFailure | undefined> {
  try {
    const written = client.sendCommand(["SET", key, "", "PX", "1000"]);
    await within(maxMs, written, () => new Silence(maxMs));
    return undefined;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === "unwritable") {
      return failure;
    }
    throw error;
  }
}

/** Looks at the version, and tries a script and a channel, which a user may lack. @throws what makes Redis no use at all */
export async function probeTheRest(client: Client, channel: string, maxMs: number): Promise<void> {
  const heard = client.subscribe(channel, () => {}).then(() => client.unsubscribe(channel));
  const info = client.sendCommand(["INFO", "server"]);
  const tried = Promise.all([info, client.sendCommand(["EVAL", "return 1", "0"]), heard]);
  const [told] = await within(maxMs, tried, () => new Silence(maxMs));
  if (isTooOld(String(told))) {
    throw new TooOld();
  }
}
