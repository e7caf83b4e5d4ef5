import { withoutControls } from "../text/controls.ts";
import { openKeys } from "../wiring/access.ts";
import { backupDatabase, backupLines, kindOfBackup, leftoversOf, restoreDatabase } from "../wiring/backup.ts";
import { loadConfig } from "../wiring/config.ts";
import { type Command, type CommandInput, exitCode, UsageError } from "./command.ts";
import { exportKeys, importKeys } from "./move-keys.ts";
import { plural } from "./style.ts";

const notInRedisBackup =
  "the engine time used, the current windows of limits, and shared answers, which Redis keeps for a short time";

export const backupCommand: Command = {
  usage: "backup <file>",
  about:
    "Copy what must survive, the keys and the engine time used, to a new file, also while a server runs.",
  options: {},
  notes: [
    "The file is readable only by its owner, is written beside its name and renamed, and never replaces a file.",
    "KIBITZ_KEY_PEPPER is not in the file: store it somewhere else. Stored answers are not in the file either, because they can be computed again.",
    `With KIBITZ_REDIS_URL, the file is what kibitz keys export writes. Not in it: ${notInRedisBackup}.`,
  ],
  async run(input) {
    const file = fileOf(input, "backup");
    const config = loadConfig(input.host.env);
    const { stdout, stderr } = input.host;
    if (config.redisUrl === undefined) {
      const count = await backupDatabase(config, file);
      stdout.write(
        `${withoutControls(`${plural(count, "key")}, and the engine time used, are in ${file}`)}\n`,
      );
      sayLeftovers(file, input);
      return exitCode.ok;
    }
    const { lines, count } = await exportKeys(config);
    await backupLines(file, lines);
    stdout.write(`${withoutControls(`${plural(count, "key")} of Redis are in ${file}`)}\n`);
    stderr.write(`kibitz: not in it: ${notInRedisBackup}\n`);
    sayLeftovers(file, input);
    return exitCode.ok;
  },
};

/** The largest number of key ids in the report. More would fill the terminal. */
const shownMax = 100;

export const restoreCommand: Command = {
  usage: "restore <file>",
  about:
    "Put a copy that kibitz backup made into the place of the database, which is kept under another name.",
  options: {},
  notes: [
    "Stop the server first: restore refuses while a server has the database, if the keys were made with another KIBITZ_KEY_PEPPER, and if a newer Kibitz made the copy.",
    "The earlier kibitz.db, with its -wal and -shm, gets the name kibitz.db.before-restore, or .before-restore-2 and so on. A missing database is made.",
    "Keys that were revoked after the copy was made are valid again: revoke them again. Keys that were made after it are gone.",
    "With KIBITZ_REDIS_URL, restore does what kibitz keys import does, also while servers run. There, revoked keys stay revoked.",
  ],
  async run(input) {
    const file = fileOf(input, "restore");
    const config = loadConfig(input.host.env);
    const { stdout, stderr } = input.host;
    const say = (text: string) => stderr.write(`kibitz: ${withoutControls(text)}\n`);
    if (config.redisUrl !== undefined) {
      if (kindOfBackup(file) === "database") {
        throw new UsageError(
          "this is a copy of a database, and the keys are in Redis: restore it to an empty KIBITZ_DATA_DIR without KIBITZ_REDIS_URL, and use kibitz keys export and kibitz keys import",
        );
      }
      const code = await importKeys(input, config, file, () => openKeys(config, true));
      say(`not restored, because a copy of Redis does not have it: ${notInRedisBackup}`);
      return code;
    }
    const { database, earlier, count, validAgain } = await restoreDatabase(config, file);
    stdout.write(
      `${withoutControls(`${plural(count, "key")}, and the engine time used, are in ${database}`)}\n`,
    );
    say(earlier === undefined ? "the database is new" : `the earlier database is ${earlier}`);
    say(
      "keys that were revoked after the copy was made are valid again: revoke them again. Keys that were made after it are gone",
    );
    if (validAgain.length > 0) {
      const more = validAgain.length > shownMax ? ` and ${validAgain.length - shownMax} more` : "";
      say(`valid again: ${validAgain.slice(0, shownMax).join(" ")}${more}`);
    }
    sayLeftovers(database, input);
    return exitCode.ok;
  },
};

function sayLeftovers(file: string, { host }: CommandInput): void {
  for (const leftover of leftoversOf(file)) {
    host.stderr.write(
      `kibitz: ${withoutControls(`a command that was killed has left ${leftover}: delete this file`)}\n`,
    );
  }
}

function fileOf({ positionals: [file, ...more] }: CommandInput, command: string): string {
  if (!file || more.length > 0) {
    throw new UsageError(`${command} needs a file`);
  }
  return file;
}
