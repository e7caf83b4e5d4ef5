import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { KeyRecord, KeyStore } from "../storage/ports.ts";
import { echo, isJsonObject } from "../text/plain-text.ts";
import { type CommandInput, exitCode, UsageError } from "./command.ts";
import { plural } from "./style.ts";
import { whyNotOpened } from "./why-not-opened.ts";

/**
 * An exported key: a line of JSON with the hash and without the secret. Times are in ISO 8601; missing values are `null`.
 */
interface WrittenKey {
  readonly id: string;
  readonly hash: string;
  readonly name: string | null;
  readonly plan: string;
  readonly created_at: string | null;
  readonly issued_to: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

/** Writes a time in milliseconds since 1970; null if undefined. */
type TimeOf = (ms: number | undefined) => string | null;

/** Writes all keys, oldest first. */
export async function exportKeys({ host }: CommandInput, keys: KeyStore, timeOf: TimeOf): Promise<number> {
  const records = await keys.list();
  host.stdout.write(records.map((record) => `${JSON.stringify(writtenFrom(record, timeOf))}\n`).join(""));
  host.stderr.write(`${plural(records.length, "key")} exported\n`);
  return exitCode.ok;
}

/**
 * Reads keys from a file, or from standard input for `-`, and adds those that the store lacks. If the store has a key, it is revoked if
 * either is, and its last use is the later one. A key that contradicts one in the store is reported and left out.
 *
 * @throws UsageError for an invalid file, of which no key is added
 */
export async function importKeys({ host }: CommandInput, keys: KeyStore, file: string): Promise<number> {
  const content = await (file === "-" ? text(host.stdin) : readFile(file, "utf8")).catch((error: Error) => {
    throw new UsageError(`${echo(file)} cannot be read: ${whyNotOpened(error)}`);
  });
  const records = recordsFrom(content);
  const counts = { imported: 0, brought: 0, same: 0, conflict: 0 };
  for (const record of records) {
    const outcome = await importKey(keys, record);
    counts[outcome.kind]++;
    if (outcome.kind === "conflict") {
      host.stderr.write(`kibitz: ${record.id} was left out: ${outcome.why}\n`);
    }
  }
  host.stdout.write(
    `${plural(counts.imported, "key")} imported, ${counts.brought} brought up to date, ${counts.same} there already, ${counts.conflict} left out\n`,
  );
  return counts.conflict > 0 ? exitCode.failure : exitCode.ok;
}

type Outcome =
  | { readonly kind: "imported" | "brought" | "same" }
  | { readonly kind: "conflict"; readonly why: string };

async function importKey(keys: KeyStore, record: KeyRecord): Promise<Outcome> {
  const { id, hash, lastUsedAt = 0, revokedAt } = record;
  const there = await keys.findById(id);
  if (there === undefined) {
    if (await keys.findByHash(hash)) {
      return { kind: "conflict", why: "another key has the same secret" };
    }
    await keys.create(record);
    return { kind: "imported" };
  }
  const differing = fixed.filter((field) => there[field] !== record[field]);
  if (differing.length > 0) {
    return { kind: "conflict", why: `the key that is there has another ${differing.join(", ")}` };
  }
  const isRevoked = revokedAt !== undefined && there.revokedAt === undefined;
  const isUsed = lastUsedAt > (there.lastUsedAt ?? 0);
  if (isRevoked) {
    await keys.revoke(id, revokedAt);
  }
  if (isUsed) {
    await keys.touch(new Map([[id, lastUsedAt]]));
  }
  return { kind: isRevoked || isUsed ? "brought" : "same" };
}

/** The fields of a key that never change. */
const fixed = ["hash", "name", "plan", "createdAt", "issuedTo"] as const;

function writtenFrom(record: KeyRecord, timeOf: TimeOf): WrittenKey {
  const { id, hash, name = null, plan, createdAt, issuedTo = null, lastUsedAt, revokedAt } = record;
  return {
    id,
    hash,
    name,
    plan,
    created_at: timeOf(createdAt),
    issued_to: issuedTo,
    last_used_at: timeOf(lastUsedAt),
    revoked_at: timeOf(revokedAt),
  };
}

/** @throws UsageError that names the first invalid line */
function recordsFrom(content: string): readonly KeyRecord[] {
  return content.split("\n").flatMap((line, index) => {
    if (line.trim() === "") {
      return [];
    }
    const record = recordFrom(parsed(line));
    if (record === undefined) {
      throw new UsageError(
        `line ${index + 1} is no key as kibitz keys export writes it; nothing was imported`,
      );
    }
    return [record];
  });
}

function recordFrom(json: unknown): KeyRecord | undefined {
  if (!isWrittenKey(json)) {
    return undefined;
  }
  const { id, hash, name, plan, created_at, issued_to, last_used_at, revoked_at } = json;
  return {
    id,
    hash,
    name: name ?? undefined,
    plan,
    createdAt: msOf(created_at) ?? 0,
    issuedTo: issued_to ?? undefined,
    lastUsedAt: msOf(last_used_at),
    revokedAt: msOf(revoked_at),
  };
}

function msOf(time: string | null): number | undefined {
  return time === null ? undefined : Date.parse(time);
}

function isWrittenKey(json: unknown): json is WrittenKey {
  return (
    isJsonObject(json) &&
    Object.keys(json).every((name) => name in checks) &&
    Object.entries(checks).every(([name, fits]) => fits(json[name]))
  );
}

const isText = (value: unknown) => typeof value === "string" && value.length > 0 && value.length <= 256;
/** Without control characters, as the names of new keys. */
const isName = (value: unknown) => typeof value === "string" && /^\P{Cc}{0,256}$/u.test(value);
const isHash = (value: unknown) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isTime = (value: unknown) => typeof value === "string" && !Number.isNaN(Date.parse(value));
const orNull = (fits: (value: unknown) => boolean) => (value: unknown) => value === null || fits(value);

/** Each field must be there, and no other. */
const checks: Readonly<Record<keyof WrittenKey, (value: unknown) => boolean>> = {
  id: isText,
  hash: isHash,
  name: orNull(isName),
  plan: isText,
  created_at: isTime,
  issued_to: orNull(isText),
  last_used_at: orNull(isTime),
  revoked_at: orNull(isTime),
};

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
