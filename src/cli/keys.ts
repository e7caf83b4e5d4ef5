import { create } from "@bufbuild/protobuf";
import { CreateKeyRequestSchema } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { createKeyIssuer, type IssuedKey, type KeyIssuer } from "../access/key-issuer.ts";
import { createKeyExpiry, type KeyExpiry } from "../access/keys.ts";
import { freePlan, planOf } from "../access/plans.ts";
import { checkRules } from "../calls/rules.ts";
import type { KeyRecord } from "../storage/ports.ts";
import { withoutControls } from "../text/controls.ts";
import { wall } from "../time/time.ts";
import { type OpenedKeys, openKeys } from "../wiring/access.ts";
import { loadConfig } from "../wiring/config.ts";
import { loadPlans } from "../wiring/plans.ts";
import type { Config } from "../wiring/settings.ts";
import { type Command, type CommandInput, columns, exitCode, UsageError } from "./command.ts";
import { importKeys, lineOfKey, timeOf } from "./move-keys.ts";
import { plural } from "./style.ts";

type Action = (input: CommandInput, issuer: KeyIssuer, config: Config, opened: OpenedKeys) => Promise<number>;

const actions: Readonly<Record<string, Action>> = {
  create: createKey,
  list,
  revoke,
  rotate,
  export: exportKeys,
  import: (input, _issuer, _config, { keys }) => importKeys(input, keys, onlyArguments(input, 1, "a file")),
};

export const keysCommand: Command = {
  usage: "keys create|list|revoke|rotate|export|import",
  about:
    "Create and list API keys, revoke one, replace (rotate) one with a new one, or move all to another store.",
  options: {
    name: { type: "string", short: "n", value: "<name>", about: "create: a name to recognise the key by" },
    plan: { type: "string", value: "<id>", about: `create: the key's plan (default ${freePlan.id})` },
    json: { type: "boolean", about: "print one line of JSON for each key" },
  },
  notes: [
    "A key is shown only once, when it is created: only a hash is stored, in KIBITZ_DATA_DIR or, if it is set, in KIBITZ_REDIS_URL.",
    "A running server accepts new keys at once, and revoked ones for up to 3 more seconds.",
    "Use the server's settings: another KIBITZ_KEY_PEPPER than the keys were made with is an error.",
    "export writes a line of JSON for each key, without its secret; import <file>, or - for standard input, adds those that are not there yet, and may be repeated.",
    "Keys that are created here do not expire; keys from POST /v1/keys do (KIBITZ_KEY_EXPIRY_DAYS).",
  ],
  async run(input) {
    const [name = ""] = input.positionals;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) {
      throw new UsageError(`give one of ${Object.keys(actions).join(", ")}`);
    }
    const config = loadConfig(input.host.env);
    await using opened = await openKeys(config);
    const { place, isNew } = opened;
    if (isNew || action === createKey || action === rotate) {
      input.host.stderr.write(`kibitz: the keys are in ${withoutControls(place)}${isNew ? " (new)" : ""}\n`);
    }
    const issuer = createKeyIssuer({ keys: opened.keys, pepper: config.keyPepper, now: timeIn(opened) });
    return await action(input, issuer, config, opened);
  },
};

/** Uses the clock of Redis if several nodes share the keys, because the clocks of the nodes may differ. */
const timeIn = (opened: OpenedKeys) => () => Math.floor(opened.now() ?? wall());

async function createKey(input: CommandInput, issuer: KeyIssuer, config: Config): Promise<number> {
  const { name, plan = freePlan.id } = input.values;
  onlyArguments(input, 0);
  const violations = checkRules(
    create(CreateKeyRequestSchema, typeof name === "string" ? { name } : {}),
    CreateKeyRequestSchema,
  );
  if (violations[0]) {
    throw new UsageError(violations[0].message);
  }
  const plans = loadPlans(config).filter(({ requiresKey }) => requiresKey);
  if (typeof plan !== "string" || planOf(plans, plan) === undefined) {
    throw new UsageError(`there is no plan "${plan}" for keys; the plans are ${idsOf(plans)}`);
  }
  const issued = await issuer.issue({ name: typeof name === "string" ? name : undefined, plan });
  return show(input, issued, config);
}

async function list(
  input: CommandInput,
  issuer: KeyIssuer,
  { keyExpiryDays }: Config,
  opened: OpenedKeys,
): Promise<number> {
  onlyArguments(input, 0);
  const records = await issuer.list();
  const expiry = createKeyExpiry(keyExpiryDays, timeIn(opened));
  if (input.values.json) {
    input.host.stdout.write(records.map((record) => `${JSON.stringify(jsonOf(record, expiry))}\n`).join(""));
    return exitCode.ok;
  }
  const rows = records.map((record) => [
    record.id,
    record.plan,
    dateOf(record.createdAt),
    dateOf(record.lastUsedAt),
    stateOf(record, expiry),
    record.name ?? "",
  ]);
  input.host.stdout.write(
    columns([["ID", "PLAN", "CREATED", "LAST USED", "STATE", "NAME"], ...rows])
      .map((line) => `${withoutControls(line)}\n`)
      .join(""),
  );
  return exitCode.ok;
}

async function exportKeys(input: CommandInput, issuer: KeyIssuer): Promise<number> {
  onlyArguments(input, 0);
  const records = await issuer.list();
  input.host.stdout.write(records.map(lineOfKey).join(""));
  input.host.stderr.write(`${plural(records.length, "key")} exported\n`);
  return exitCode.ok;
}

function stateOf(record: KeyRecord, expiry: KeyExpiry): string {
  if (record.revokedAt !== undefined) {
    return `revoked ${dateOf(record.revokedAt)}`;
  }
  return expiry.hasExpired(record) ? `expired ${dateOf(expiry.expiresAt(record))}` : "valid";
}

async function revoke(input: CommandInput, issuer: KeyIssuer): Promise<number> {
  const id = onlyArguments(input, 1);
  if (!(await issuer.revoke(id))) {
    throw unknownKey(id);
  }
  input.host.stdout.write(
    input.values.json ? `${JSON.stringify({ id, revoked: true })}\n` : `${id} is revoked\n`,
  );
  return exitCode.ok;
}

async function rotate(input: CommandInput, issuer: KeyIssuer, config: Config): Promise<number> {
  const id = onlyArguments(input, 1);
  const issued = await issuer.rotate(id);
  if (issued === undefined) {
    throw unknownKey(id);
  }
  return show(input, issued, config);
}

/** Writes only the key to standard output, so that a script can read the key. */
function show({ values, host }: CommandInput, issued: IssuedKey, { keyExpiryDays }: Config): number {
  if (issued.kind !== "issued") {
    throw new Error("keys that the operator issues have no terms");
  }
  const { key, record } = issued;
  if (values.json) {
    host.stdout.write(`${JSON.stringify({ ...jsonOf(record, createKeyExpiry(keyExpiryDays)), key })}\n`);
  } else {
    // Print the id first, so that the user can revoke the key even if the key itself cannot be written.
    host.stderr.write(`id ${record.id}, plan ${record.plan}. The key will not be shown again.\n`);
    host.stdout.write(`${key}\n`);
  }
  return exitCode.ok;
}

function onlyArguments({ positionals }: CommandInput, count: 0 | 1, what = "the id of a key"): string {
  const [action, argument = "", ...more] = positionals;
  if ((count === 1) !== (argument !== "") || more.length > 0) {
    throw new UsageError(count === 1 ? `${action} needs ${what}` : `${action} takes no arguments`);
  }
  return argument;
}

function unknownKey(id: string): UsageError {
  return new UsageError(`there is no valid key ${JSON.stringify(id)}; kibitz keys list shows the ids`);
}

function jsonOf(record: KeyRecord, expiry: KeyExpiry) {
  const { id, name, plan, createdAt, lastUsedAt, revokedAt } = record;
  return {
    id,
    name: name ?? null,
    plan,
    created_at: timeOf(createdAt),
    last_used_at: timeOf(lastUsedAt),
    revoked_at: timeOf(revokedAt),
    expires_at: timeOf(expiry.expiresAt(record)),
  };
}

function dateOf(ms: number | undefined): string {
  return timeOf(ms)?.slice(0, 16).replace("T", " ") ?? "never";
}

function idsOf(plans: readonly { readonly id: string }[]): string {
  return plans.map(({ id }) => id).join(", ");
}
