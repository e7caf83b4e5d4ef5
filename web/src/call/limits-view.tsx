import { rateLimitsFrom } from "../client/rate-limits.ts";
import { usePage } from "../page.ts";
import { duration } from "../problem/problem-words.ts";

const windows: Readonly<Record<number, string>> = { 60: "this minute", 3600: "this hour", 86400: "today" };
const units: Readonly<Record<string, string>> = {
  request: "requests",
  refusal: "refusals",
  call: "other calls",
};

/** A quota is shown if less than this fraction remains. Quotas of requests and of engine time are always shown. */
const nearlyUsedUp = 0.1;

export function LimitsView({ headers }: { readonly headers: Headers }) {
  const rates = usePage().client.account.limits.value?.rates ?? [];
  const shown = rateLimitsFrom(headers).flatMap(({ name, remaining, quota, windowS }) => {
    const unit = rates.find((rate) => rate.name === name)?.unit;
    const isUsual = unit === "request" || unit === "engine_ms";
    if (quota === undefined || windowS === undefined || (!isUsual && remaining > quota * nearlyUsedUp)) {
      return [];
    }
    const window = windows[windowS] ?? duration(windowS * 1000);
    return unit === "engine_ms"
      ? [`${duration(remaining * 1000)} of ${duration(quota * 1000)} of engine time left ${window}`]
      : [
          `${remaining.toLocaleString("en")} of ${quota.toLocaleString("en")} ${units[unit ?? ""] ?? name} left ${window}`,
        ];
  });
  return shown.length === 0 ? null : (
    <section aria-labelledby="limits-title">
      <h3 id="limits-title">Limits</h3>
      <ul class="figures">
        {shown.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}
