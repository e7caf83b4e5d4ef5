import { isAbsolute, join } from "node:path";
import { didYouMean } from "../text/nearest-name.ts";
import { homeOf } from "./home.ts";
import type { Setting } from "./setting.ts";
import { type Config, settings } from "./settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The message names each wrong setting, and explains how to correct the setting. */
export class ConfigError extends Error {}

/** Throws a ConfigError that lists all invalid settings, all unknown `KIBITZ_*` variables, and the messages in `others`. */
export function loadConfig(environment: Environment, others: readonly string[] = []): Config {
  const known = new Set<string>(Object.values(settings).map(({ key }) => key));
  const complaints = Object.keys(environment)
    .filter((key) => key.startsWith("KIBITZ_") && !known.has(key) && !isForOthers(key))
    .map((key) => `unknown setting ${key}; ${wayOut(key, [...known])}`);
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => [
    name,
    valueOfSetting(setting, environment, complaints),
  ]);
  complaints.push(...others);
  if (complaints.length > 0) {
    throw new ConfigError(complaints.join("\n"));
  }
  return Object.freeze({
    ...Object.fromEntries(entries),
    searchPath: environment.PATH ?? "",
    dataHome: dataHomeOf(environment),
  }) as Config;
}

/** Ignores a relative `XDG_DATA_HOME`, as https://specifications.freedesktop.org/basedir/latest/ requires. */
function dataHomeOf(environment: Environment): string | undefined {
  const { XDG_DATA_HOME: dataHome = "" } = environment;
  if (isAbsolute(dataHome)) {
    return dataHome;
  }
  const home = homeOf(environment);
  return home === undefined ? undefined : join(home, ".local", "share");
}

function valueOfSetting(setting: Setting<unknown>, environment: Environment, complaints: string[]): unknown {
  const given = environment[setting.key];
  if (!given || isKubernetesPort(setting.key, given)) {
    return setting.default();
  }
  const value = setting.read(given);
  if (value === undefined) {
    const shown = setting.secret
      ? "not usable"
      : `${JSON.stringify(given.slice(0, 64))}${given.length > 64 ? "…" : ""}`;
    complaints.push(`${setting.key} is ${shown}, but ${setting.read.must}`);
  }
  return value;
}

function wayOut(key: string, known: readonly string[]): string {
  const withoutPrefix = (name: string) => name.slice("KIBITZ_".length);
  const otherwise = "kibitz serve --help lists the settings";
  return didYouMean(withoutPrefix(key), known.map(withoutPrefix), otherwise, (name) => `KIBITZ_${name}`);
}

/** Kubernetes (for a Service named `kibitz`), API clients, tests, and `npm run dev:page` use these variables. */
function isForOthers(key: string): boolean {
  return /^KIBITZ_(SERVICE_.*|PORT_.*|API_KEY|CACHE|URL)$/.test(key);
}

function isKubernetesPort(key: string, value: string): boolean {
  return key === "KIBITZ_PORT" && value.startsWith("tcp://");
}

/** Secret values are replaced by the word `set`. */
export function settingsForLog(config: Config): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries<Setting<unknown>>(settings).map(([name, { secret }]) => {
      const value = config[name as keyof typeof settings];
      return [name, secret && value !== undefined ? "set" : value];
    }),
  );
}

export function describeSettings(): readonly Readonly<Record<"key" | "about" | "default", string>>[] {
  return Object.values(settings).map(({ key, about, default: value }) => ({
    key,
    about,
    default: String(value() ?? "") || "(unset)",
  }));
}
