import { accessSync, constants, existsSync } from "node:fs";
import { databaseFile } from "../../storage/sqlite/database.ts";
import { readKeys } from "../../wiring/access.ts";
import { ConfigError } from "../../wiring/config.ts";
import type { Config } from "../../wiring/settings.ts";
import { plural } from "../style.ts";
import { bad, type Finding, good, messageOf } from "./finding.ts";

/** Reads the stored keys without changing them, because the service does not start with a database that it cannot use. */
export async function* checkKeys(config: Config): AsyncIterable<Finding> {
  const file = databaseFile(config.dataDir);
  if (config.redisUrl === undefined && !existsSync(file)) {
    return;
  }
  try {
    if (config.redisUrl === undefined) {
      accessSync(file, constants.W_OK);
    }
    const { records } = await readKeys(config);
    yield good("keys", plural(records.filter(({ revokedAt }) => revokedAt === undefined).length, "key"));
  } catch (error) {
    // The check of Redis has reported such an error.
    if (!(error instanceof ConfigError && error.message.startsWith("KIBITZ_REDIS_URL"))) {
      yield bad("keys", messageOf(error), "The service does not start with these keys.");
    }
  }
}
