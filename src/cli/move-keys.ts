import type { KeyRecord, KeyStore } from "../storage/ports.ts";
import { echo } from "../text/echo.ts";
import { isJsonObject } from "../text/json.ts";
import { type CommandInput, exitCode, UsageError } from "./command.ts";
import { linesOfFile } from "./lines-of-file.ts";
import { plural } from "./style.ts";
import { whyNotOpened } from "./why-not-opened.ts";

/** Returns the record of a key as a line of JSON. The line contains only the hash of the key. */
export function lineOfKey(record: KeyRecord): string {
  const { id, hash, name = null, plan, createdAt, issuedTo = null, lastUsedAt, revokedAt } = record;
  const json = {
    id,
    hash,
    name,
    plan,
    created_at: timeOf(createdAt),
    issued_to: issuedTo,
    last_used_at: timeOf(lastUsedAt),
    revoked_at: timeOf(revokedAt),
  };
  return `${JSON.stringify(json)}\n`;
}

/** Converts milliseconds since 1970 to ISO 8601, and undefined to null. */
export function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/**
 * Adds missing keys and revocations. Reports and skips a key that conflicts with a stored key.
 * Throws UsageError for an invalid file, before any key is added.
 */
export async function importKeys({ host }: CommandInput, keys: KeyStore, file: string): Promise<number> {
  const records = await recordsFrom(linesOfFile(file, host.stdin)).catch((error: Error) => {
    throw error instanceof UsageError
      ? error
      : new UsageError(`${echo(file)} cannot be read: ${whyNotOpened(error)}`);
  });
  const counts = { imported: 0, revoked: 0, same: 0, conflict: 0 };
  for (const record of records) {
    const outcome = await importKey(keys, record);
    counts[outcome]++;
    if (outcome === "conflict") {
      host.stderr.write(
        `kibitz: ${record.id} was left out: a key that is there has its id or its hash, and is not the same\n`,
      );
    }
  }
  host.stdout.write(
    `${plural(counts.imported, "key")} imported, ${counts.revoked} revoked, ${counts.same} there already, ${counts.conflict} left out\n`,
  );
  return counts.conflict > 0 ? exitCode.failure : exitCode.ok;
}

async function importKey(keys: KeyStore, record: KeyRecord) {
  const { id, hash, plan, revokedAt } = record;
  const there = (await keys.findById(id)) ?? (await keys.findByHash(hash));
  if (there === undefined) {
    await keys.create(record);
    return "imported";
  }
  if (there.id !== id || there.hash !== hash || there.plan !== plan) {
    return "conflict";
  }
  if (revokedAt === undefined || there.revokedAt !== undefined) {
    return "same";
  }
  await keys.revoke(id, revokedAt);
  return "revoked";
}

async function recordsFrom(lines: AsyncIterable<string>): Promise<readonly KeyRecord[]> {
  const records: KeyRecord[] = [];
  let number = 0;
  for await (const line of lines) {
    number++;
    const text = number === 1 ? line.replace(/^\ufeff/, "") : line;
    const record = text.trim() === "" ? [] : recordFrom(text);
    if (record === undefined) {
      throw new UsageError(`line ${number} is no key as kibitz keys export writes it; nothing was imported`);
    }
    records.push(...[record].flat());
  }
  return records;
}

function recordFrom(line: string): KeyRecord | undefined {
  const { id, hash, name, plan, created_at, issued_to, last_used_at, revoked_at } = fieldsOf(line);
  const [createdAt = Number.NaN, lastUsedAt, revokedAt] = [created_at, last_used_at, revoked_at].map(msFrom);
  const isValid =
    isText(id) &&
    id !== "" &&
    isText(plan) &&
    isText(hash) &&
    /^[0-9a-f]{64}$/.test(hash) &&
    (name === null || isText(name)) &&
    (issued_to === null || isText(issued_to)) &&
    ![createdAt, lastUsedAt, revokedAt].some(Number.isNaN);
  return isValid
    ? {
        id,
        hash,
        name: name ?? undefined,
        plan,
        createdAt,
        issuedTo: issued_to ?? undefined,
        lastUsedAt,
        revokedAt,
      }
    : undefined;
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(line);
    return isJsonObject(json) ? json : {};
  } catch {
    return {};
  }
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && /^\P{Cc}{0,256}$/u.test(value);

/** Returns milliseconds since 1970, NaN for an invalid value, or undefined for null. */
function msFrom(value: unknown): number | undefined {
  return value === null ? undefined : Date.parse(String(value));
}
