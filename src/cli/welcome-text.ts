import type { Config } from "../wiring/settings.ts";
import { table } from "./command.ts";

/** The state of a server that is ready. */
export interface ServiceStatus {
  readonly url: string;
  /** Ids, the default one first. */
  readonly engines: readonly string[];
  /** Searches at a time. */
  readonly slots: number;
  readonly access: Config["access"];
  /** The degraded parts. */
  readonly degraded: readonly string[];
}

const whoMayAsk: Readonly<Record<Config["access"], string>> = {
  public: "everybody, with higher limits for keys (public)",
  keys: "holders of keys: kibitz keys create (keys)",
  open: "everybody, without limits (open)",
};

/** Six lines for a user who has started a server in a terminal. */
export function welcomeText(
  { url, engines, slots, access, degraded }: ServiceStatus,
  { page }: Pick<Config, "page">,
): string {
  const [first = "none", ...others] = engines;
  const rows = [
    ["Where", page === "on" ? `${url} (in a browser, too)` : url],
    ["Engines", [`${first} (default)`, ...others].join(", ")],
    ["Searches", `${slots} at a time`],
    ["Callers", whoMayAsk[access]],
    ["Degraded", degraded.length === 0 ? "nothing" : `${degraded.join(", ")}: the log says why`],
    ["Try", `curl ${url}/v1/eval -H 'Content-Type: application/json' -d '{"fen": "startpos"}'`],
  ] as const;
  return `${table(rows).join("\n")}\n`;
}
