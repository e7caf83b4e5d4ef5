import { create } from "@bufbuild/protobuf";
import { CreateKeyRequestSchema } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { createKeyIssuer, type KeyIssuer, type NewKey } from "../access/key-issuer.ts";
import { createKeyExpiry, type KeyExpiry } from "../access/keys.ts";
import { freePlan, planOf } from "../access/plans.ts";
import { checkRules } from "../calls/rules.ts";
import { keyRules } from "../storage/key-rules.ts";
import type { ChangedKey, KeyRecord } from "../storage/ports.ts";
import { withoutControls } from "../text/controls.ts";
import { echo } from "../text/echo.ts";
import { wall } from "../time/time.ts";
import { type OpenedKeys, openKeys, readKeys } from "../wiring/access.ts";
import { loadConfig } from "../wiring/config.ts";
import { loadPlans } from "../wiring/plans.ts";
import type { Config } from "../wiring/settings.ts";
import { type Command, type CommandInput, columns, exitCode, UsageError } from "./command.ts";
import { exportKeys, importKeys, timeOf } from "./move-keys.ts";
import { plural } from "./style.ts";
import { durationFrom, endFrom } from "./time-option.ts";

interface Action {
  /** The options that the action has besides `--json`. */
  readonly options: readonly string[];
  /** Checks the arguments before a store is opened, because opening may create the store. */
  run(input: CommandInput, config: Config): Promise<number>;
}

const actions: Readonly<Record<string, Action>> = {
  create: { options: ["name", "plan", "expires", "count"], run: createKeys },
  list: { options: [], run: list },
  revoke: { options: [], run: revoke },
  rotate: { options: ["overlap"], run: rotate },
  update: { options: ["name", "plan", "expires"], run: update },
  export: { options: [], run: exportAll },
  import: { options: [], run: importAll },
};

const overlapMax = `${keyRules.overlapMaxMs / 86_400_000}d`;

export const keysCommand: Command = {
  usage: `keys ${Object.keys(actions).join("|")}`,
  about:
    "Create, list and change API keys, revoke one, replace (rotate) one with a new one, or move all to another store.",
  options: {
    name: {
      type: "string",
      short: "n",
      value: "<name>",
      about: 'create, update: a name to recognise the key by; "" removes it',
    },
    plan: {
      type: "string",
      value: "<id>",
      about: `create, update: the key's plan (a new key: ${freePlan.id})`,
    },
    expires: {
      type: "string",
      value: "<time>",
      about: "create, update: when the key ends: 90d from now, 2030-12-31, 2030-12-31T18:00Z, or never",
    },
    count: {
      type: "string",
      value: "<n>",
      about: `create: the number of keys, 1 to ${keyRules.createdAtOnce}, all or none, one a line`,
    },
    overlap: {
      type: "string",
      value: "<time>",
      about: `rotate: how long the earlier key stays valid, such as 12h or 7d, at most ${overlapMax}; both keys share their limits`,
    },
    json: { type: "boolean", about: "print one line of JSON for each key" },
  },
  notes: [
    "A key is shown only once, when it is created: only a hash is stored, in KIBITZ_DATA_DIR or, if it is set, in KIBITZ_REDIS_URL.",
    "only create, import and kibitz restore make a missing database, and say so. update, revoke and rotate need one, and list and export write nothing.",
    "A running server accepts new keys at once. A revoked key works for up to 3 more seconds, and a change of update takes as long.",
    "update never makes a revoked key valid again.",
    "Use the server's settings: another KIBITZ_KEY_PEPPER than the keys were made with is an error.",
    "export writes a line of JSON for each key, without its secret, and with a check value of the pepper; import <file>, or - for standard input, adds those that are not there yet, and may be repeated. Under another pepper it is refused.",
    "Keys that are created here expire only with --expires; keys from POST /v1/keys do if they are unused (KIBITZ_KEY_EXPIRY_DAYS).",
  ],
  async run(input) {
    const [name = ""] = input.positionals;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) {
      throw new UsageError(`give one of ${Object.keys(actions).join(", ")}`);
    }
    const wrong = Object.keys(input.values).find(
      (option) => option !== "json" && !action.options.includes(option),
    );
    if (wrong !== undefined) {
      const others = Object.keys(actions).filter((other) => actions[other]?.options.includes(wrong));
      throw new UsageError(`--${wrong} is not for ${name}, but for ${others.join(" and ")}`);
    }
    return await action.run(input, loadConfig(input.host.env));
  },
};

interface Opened extends OpenedKeys {
  readonly issuer: KeyIssuer;
  readonly expiry: KeyExpiry;
}

async function open(
  { positionals, host }: CommandInput,
  config: Config,
  mayCreate: boolean,
): Promise<Opened> {
  const opened = await openKeys(config, mayCreate);
  const { keys, place, isNew, now } = opened;
  if (isNew || positionals[0] === "create" || positionals[0] === "rotate") {
    const made = isNew ? " (new: a server finds them only with the same KIBITZ_DATA_DIR)" : "";
    host.stderr.write(`kibitz: the keys are in ${withoutControls(place)}${made}\n`);
  }
  const issuer = createKeyIssuer({ keys, pepper: config.keyPepper, now });
  return { ...opened, issuer, expiry: createKeyExpiry(config.keyExpiryDays, now) };
}

async function createKeys(input: CommandInput, config: Config): Promise<number> {
  onlyArguments(input, 0);
  const { name = "", plan = freePlan.id, expires } = fieldsFrom(input, config);
  const count = countFrom(input);
  await using opened = await open(input, config, true);
  const wish = { name: name || undefined, plan, expiresAt: expires?.(opened.now()) ?? undefined };
  return show(input, await opened.issuer.issueAll(count, wish), opened.expiry);
}

/** Throws UsageError for a name, a plan or an end that a key cannot have. */
function fieldsFrom({ values }: CommandInput, config: Config) {
  const { name, plan, expires } = values;
  if (typeof name === "string" && name !== "") {
    const [violation] = checkRules(create(CreateKeyRequestSchema, { name }), CreateKeyRequestSchema);
    if (violation) {
      throw new UsageError(violation.message);
    }
  }
  if (typeof plan === "string") {
    const plans = loadPlans(config).filter(({ requiresKey }) => requiresKey);
    if (planOf(plans, plan) === undefined) {
      throw new UsageError(`there is no plan ${echo(plan, '"')} for keys; the plans are ${idsOf(plans)}`);
    }
  }
  if (typeof expires === "string") {
    endFrom(expires, "--expires", wall());
  }
  return {
    name: typeof name === "string" ? name : undefined,
    plan: typeof plan === "string" ? plan : undefined,
    expires: typeof expires === "string" ? (now: number) => endFrom(expires, "--expires", now) : undefined,
  };
}

function countFrom({ values: { count = "1" } }: CommandInput): number {
  const number = /^\d{1,9}$/.test(String(count)) ? Number(count) : 0;
  if (number < 1 || number > keyRules.createdAtOnce) {
    throw new UsageError(`--count must be a whole number from 1 to ${keyRules.createdAtOnce}`);
  }
  return number;
}

async function list(input: CommandInput, config: Config): Promise<number> {
  onlyArguments(input, 0);
  const { records, now } = await readKeys(config);
  const expiry = createKeyExpiry(config.keyExpiryDays, now);
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

function stateOf(record: KeyRecord, expiry: KeyExpiry): string {
  if (record.revokedAt !== undefined) {
    return `revoked ${dateOf(record.revokedAt)}`;
  }
  if (expiry.hasExpired(record)) {
    return `expired ${dateOf(expiry.expiresAt(record))}`;
  }
  return record.expiresAt === undefined ? "valid" : `valid until ${dateOf(record.expiresAt)}`;
}

async function exportAll({ host, ...input }: CommandInput, config: Config): Promise<number> {
  onlyArguments({ host, ...input }, 0);
  const { lines, count } = await exportKeys(config);
  host.stdout.write(lines);
  host.stderr.write(`${plural(count, "key")} exported\n`);
  return exitCode.ok;
}

async function importAll(input: CommandInput, config: Config): Promise<number> {
  return importKeys(input, config, onlyArguments(input, 1, "a file"), () => open(input, config, true));
}

async function update(input: CommandInput, config: Config): Promise<number> {
  const id = onlyArguments(input, 1);
  const { name, plan, expires } = fieldsFrom(input, config);
  if (name === undefined && plan === undefined && expires === undefined) {
    throw new UsageError("update needs --name, --plan or --expires");
  }
  await using opened = await open(input, config, false);
  const { issuer, expiry, now } = opened;
  const changed = await issuer.update(id, {
    name: name === "" ? null : name,
    plan,
    expiresAt: expires?.(now()),
  });
  if (changed === undefined) {
    throw await whyInvalid(id, opened);
  }
  const { before, after } = changed;
  input.host.stdout.write(
    input.values.json
      ? `${JSON.stringify({ before: jsonOf(before, expiry), after: jsonOf(after, expiry) })}\n`
      : `${withoutControls(`${id}: ${changesIn(changed)}`)}\n`,
  );
  if (expiry.hasExpired(after)) {
    input.host.stderr.write(
      `kibitz: the key has expired (${dateOf(expiry.expiresAt(after))}), so no caller can use it\n`,
    );
  }
  return exitCode.ok;
}

/** Returns a text such as `plan free, now club; name "a", now none`. */
function changesIn({ before, after }: ChangedKey): string {
  const shown = ({ plan, name, expiresAt }: KeyRecord) => ({
    plan,
    name: name === undefined ? "none" : JSON.stringify(name),
    expires: dateOf(expiresAt),
  });
  const [old, now] = [shown(before), shown(after)];
  const changes = (["plan", "name", "expires"] as const)
    .filter((field) => old[field] !== now[field])
    .map((field) => `${field} ${old[field]}, now ${now[field]}`);
  return changes.join("; ") || "nothing to change";
}

async function revoke(input: CommandInput, config: Config): Promise<number> {
  const id = onlyArguments(input, 1);
  await using opened = await open(input, config, false);
  if (!(await opened.issuer.revoke(id))) {
    throw await whyInvalid(id, opened);
  }
  input.host.stdout.write(
    input.values.json ? `${JSON.stringify({ id, revoked: true })}\n` : `${id} is revoked\n`,
  );
  return exitCode.ok;
}

async function rotate(input: CommandInput, config: Config): Promise<number> {
  const id = onlyArguments(input, 1);
  const { overlap } = input.values;
  const overlapMs =
    typeof overlap === "string" ? durationFrom(overlap, "--overlap", keyRules.overlapMaxMs) : 0;
  await using opened = await open(input, config, false);
  const { issuer, expiry, keys } = opened;
  const rotated = await issuer.rotate(id, expiry, overlapMs);
  if (rotated === undefined) {
    throw await whyInvalid(id, opened);
  }
  const earlier = await keys.findById(id);
  if (overlapMs > 0 && earlier) {
    input.host.stderr.write(`the earlier key ${id} is valid until ${dateOf(expiry.expiresAt(earlier))}\n`);
  }
  return show(input, [rotated], expiry);
}

/** Writes only the keys to standard output, so that a script can read the keys. */
function show({ values, host }: CommandInput, all: readonly NewKey[], expiry: KeyExpiry): number {
  const [{ record } = {}] = all;
  if (values.json) {
    host.stdout.write(
      all.map((each) => `${JSON.stringify({ ...jsonOf(each.record, expiry), key: each.key })}\n`).join(""),
    );
  } else if (record !== undefined) {
    const { plan, expiresAt } = record;
    const terms = `plan ${plan}${expiresAt === undefined ? "" : `, valid until ${dateOf(expiresAt)}`}`;
    // Print the id first, so that the user can revoke the key even if the key itself cannot be written.
    host.stderr.write(
      all.length === 1
        ? `id ${record.id}, ${terms}. The key will not be shown again.\n`
        : `${all.length} keys, ${terms}; kibitz keys list shows their ids. The keys will not be shown again.\n`,
    );
    host.stdout.write(all.map(({ key }) => `${key}\n`).join(""));
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

/** Returns the error for a key that is unknown, revoked or expired, or was already replaced. */
async function whyInvalid(id: string, { keys, expiry }: Opened): Promise<UsageError> {
  const known = await keys.findById(id);
  const name = echo(id, '"');
  if (known === undefined) {
    return new UsageError(`there is no valid key ${name}; kibitz keys list shows the ids`);
  }
  const next =
    known.replacedBy === undefined
      ? "kibitz keys create makes a new one"
      : `it was replaced by ${known.replacedBy}`;
  if (known.revokedAt !== undefined) {
    return new UsageError(`the key ${name} was revoked (${dateOf(known.revokedAt)}), and stays so; ${next}`);
  }
  const end = dateOf(expiry.expiresAt(known));
  return known.replacedBy === undefined || expiry.hasExpired(known)
    ? new UsageError(`the key ${name} has expired (${end}); ${next}`)
    : new UsageError(
        `the key ${name} was replaced by ${known.replacedBy}, and is valid until ${end}; rotate the key that replaced it, or end this one with kibitz keys revoke`,
      );
}

function jsonOf(record: KeyRecord, expiry: KeyExpiry) {
  const { id, name, plan, createdAt, lastUsedAt, revokedAt, account, replacedBy } = record;
  return {
    id,
    name: name ?? null,
    plan,
    created_at: timeOf(createdAt),
    last_used_at: timeOf(lastUsedAt),
    revoked_at: timeOf(revokedAt),
    expires_at: timeOf(expiry.expiresAt(record)),
    account: account ?? null,
    replaced_by: replacedBy ?? null,
  };
}

function dateOf(ms: number | undefined): string {
  return timeOf(ms)?.slice(0, 16).replace("T", " ") ?? "never";
}

function idsOf(plans: readonly { readonly id: string }[]): string {
  return plans.map(({ id }) => id).join(", ");
}
