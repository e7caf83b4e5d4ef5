import { checkValueOf, pepperOfOthers } from "../access/keys.ts";
import type { KeyRecord, KeyStore } from "../storage/ports.ts";
import { echo } from "../text/echo.ts";
import { isJsonObject } from "../text/json.ts";
import { readKeys } from "../wiring/access.ts";
import type { Config } from "../wiring/settings.ts";
import { type CommandInput, exitCode, UsageError } from "./command.ts";
import { linesOfFile } from "./lines-of-file.ts";
import { plural } from "./style.ts";
import { whyNotOpened } from "./why-not-opened.ts";

/** Returns a line of JSON for each key. Writes nothing to the store. */
export async function exportKeys(
  config: Config,
): Promise<{ readonly lines: string; readonly count: number }> {
  const { records } = await readKeys(config);
  const check = checkValueOf(config.keyPepper);
  return { lines: records.map((record) => lineOfKey(record, check)).join(""), count: records.length };
}

/** The line contains only the hash of the key. Each line has the check value of the pepper, so that lines can be sorted and left out. */
function lineOfKey(record: KeyRecord, pepperCheck: string): string {
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
    expires_at: timeOf(record.expiresAt),
    account: record.account ?? null,
    replaced_by: record.replacedBy ?? null,
    pepper_check: pepperCheck,
  };
  return `${JSON.stringify(json)}\n`;
}

/** Converts milliseconds since 1970 to ISO 8601, and undefined to null. */
export function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/**
 * Adds missing keys, revocations and earlier ends. Reports and skips a key that conflicts with a stored key.
 * Throws UsageError for an invalid file or another pepper, before a store is opened.
 */
export async function importKeys(
  { host }: CommandInput,
  config: Config,
  file: string,
  open: () => Promise<AsyncDisposable & { readonly keys: KeyStore }>,
): Promise<number> {
  const lines = await linesFrom(linesOfFile(file, host.stdin)).catch((error: Error) => {
    throw error instanceof UsageError
      ? error
      : new UsageError(`${echo(file)} cannot be read: ${whyNotOpened(error)}`);
  });
  refuseOtherPepper(lines, config);
  if (lines.some(({ pepperCheck }) => pepperCheck === undefined)) {
    host.stderr.write(
      "kibitz: the file is from an older Kibitz and does not say which KIBITZ_KEY_PEPPER its keys were made with: try one of them\n",
    );
  }
  await using opened = await open();
  const counts = { imported: 0, revoked: 0, same: 0, conflict: 0 };
  for (const { record } of lines) {
    const outcome = await importKey(opened.keys, record);
    counts[outcome.kind]++;
    if ("why" in outcome) {
      host.stderr.write(`kibitz: ${record.id} ${outcome.why}\n`);
    }
  }
  host.stdout.write(
    `${plural(counts.imported, "key")} imported, ${counts.revoked} revoked, ${counts.same} there already, ${counts.conflict} left out\n`,
  );
  return counts.conflict > 0 ? exitCode.failure : exitCode.ok;
}

interface Imported {
  readonly kind: "imported" | "revoked" | "same" | "conflict";
  /** A sentence without its subject. */
  readonly why?: string;
}

async function importKey(keys: KeyStore, record: KeyRecord): Promise<Imported> {
  const { id, hash, plan, revokedAt, expiresAt, replacedBy } = record;
  const there = (await keys.findById(id)) ?? (await keys.findByHash(hash));
  if (there === undefined) {
    await keys.create(record);
    return { kind: "imported" };
  }
  if (there.id !== id || there.hash !== hash) {
    const why = "was left out: a key that is there has its id or its hash, and is not the same";
    return { kind: "conflict", why };
  }
  if (revokedAt !== undefined && there.revokedAt === undefined) {
    if (there.replacedBy === undefined && replacedBy !== undefined) {
      // Before the revocation, because a revoked key cannot be changed.
      await keys.update(id, { replacedBy });
    }
    await keys.revoke(id, revokedAt);
    return { kind: "revoked" };
  }
  if (there.plan !== plan) {
    const why = `was left out: its plan is ${echo(there.plan, '"')} here, and ${echo(plan, '"')} in the file; kibitz keys update changes the plan`;
    return { kind: "conflict", why };
  }
  if (there.replacedBy !== undefined && replacedBy !== undefined && there.replacedBy !== replacedBy) {
    const why = `was left out: it was replaced by ${echo(there.replacedBy, '"')} here, and by ${echo(replacedBy, '"')} in the file`;
    return { kind: "conflict", why };
  }
  const isEarlier = expiresAt !== undefined && expiresAt < (there.expiresAt ?? Number.POSITIVE_INFINITY);
  if (isEarlier || replacedBy !== there.replacedBy) {
    const changed = await keys.update(id, { endsBy: expiresAt, replacedBy });
    // The key was revoked here, or another command has just brought its end forward.
    const isShorter = changed !== undefined && changed.before.expiresAt !== changed.after.expiresAt;
    return isShorter
      ? { kind: "same", why: `now ends at ${timeOf(expiresAt)}, as in the file` }
      : { kind: "same" };
  }
  return { kind: "same" };
}

function refuseOtherPepper(lines: readonly ExportedKey[], { keyPepper }: Config): void {
  const at = lines.findIndex(
    ({ pepperCheck }) => pepperCheck !== undefined && pepperCheck !== checkValueOf(keyPepper),
  );
  if (at < 0) {
    return;
  }
  const made = pepperOfOthers(lines[at]?.pepperCheck, keyPepper);
  throw new UsageError(
    `KIBITZ_KEY_PEPPER: the key ${echo(lines[at]?.record.id ?? "")} in the file was made ${made}, so it would not work; nothing was imported. Use the KIBITZ_KEY_PEPPER of the exporting server.`,
  );
}

interface ExportedKey {
  readonly record: KeyRecord;
  /** Undefined if an older Kibitz wrote the line. */
  readonly pepperCheck: string | undefined;
}

async function linesFrom(lines: AsyncIterable<string>): Promise<readonly ExportedKey[]> {
  const records: ExportedKey[] = [];
  let number = 0;
  for await (const line of lines) {
    number++;
    const text = number === 1 ? line.replace(/^\ufeff/, "") : line;
    const record = text.trim() === "" ? [] : exportedKeyFrom(text);
    if (record === undefined) {
      throw new UsageError(`line ${number} is no key as kibitz keys export writes it; nothing was imported`);
    }
    records.push(...[record].flat());
  }
  return records;
}

function exportedKeyFrom(line: string): ExportedKey | undefined {
  // An older Kibitz writes no `expires_at`, `account`, `replaced_by` and `pepper_check`.
  const older = { expires_at: null, account: null, replaced_by: null, pepper_check: null };
  const fields: Readonly<Record<string, unknown>> = { ...older, ...fieldsOf(line) };
  const { id, hash, name, plan, created_at, issued_to, last_used_at, revoked_at } = fields;
  const { expires_at, account, replaced_by: replacedBy, pepper_check: pepperCheck } = fields;
  const [createdAt = Number.NaN, lastUsedAt, revokedAt, expiresAt] = [
    created_at,
    last_used_at,
    revoked_at,
    expires_at,
  ].map(msFrom);
  const isValid =
    isText(id) &&
    id !== "" &&
    isText(plan) &&
    isText(hash) &&
    /^[0-9a-f]{64}$/.test(hash) &&
    (name === null || isText(name)) &&
    (issued_to === null || isText(issued_to)) &&
    (account === null || isText(account)) &&
    (replacedBy === null || isText(replacedBy)) &&
    (pepperCheck === null || isText(pepperCheck)) &&
    ![createdAt, lastUsedAt, revokedAt, expiresAt].some(Number.isNaN);
  if (!isValid) {
    return undefined;
  }
  const record: KeyRecord = {
    id,
    hash,
    name: name ?? undefined,
    plan,
    createdAt,
    issuedTo: issued_to ?? undefined,
    lastUsedAt,
    revokedAt,
    expiresAt,
    account: account ?? undefined,
    replacedBy: replacedBy ?? undefined,
  };
  return { record, pepperCheck: pepperCheck ?? undefined };
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(line);
    return isJsonObject(json) ? json : {};
  } catch {
    return {};
  }
}

/** A text with control characters or lone surrogates is not valid, because some stores would change or refuse it. */
const isText = (value: unknown): value is string =>
  typeof value === "string" && /^[^\p{Cc}\p{Cs}]{0,256}$/u.test(value);

/** Returns milliseconds since 1970, NaN for an invalid value, or undefined for null. */
function msFrom(value: unknown): number | undefined {
  return value === null ? undefined : Date.parse(String(value));
}
