import { rateLimitsFrom } from "../client/rate-limits.ts";
import { usePage } from "../page.ts";
import { duration } from "../problem/problem-words.ts";
import { texts } from "../texts.ts";

const words = texts.call;

/** A quota of refused calls or of calls that are not analyses is shown if less than this part of it is left. */
const nearlyUsedUp = 0.1;

/** The caller's remaining quotas, from the headers of the latest answer. */
export function LimitsView({ headers }: { readonly headers: Headers }) {
  const rates = usePage().client.account.limits.value?.rates ?? [];
  const shown = rateLimitsFrom(headers).flatMap(({ name, remaining, quota, windowS }) => {
    const unit = rates.find((rate) => rate.name === name)?.unit;
    const isUsual = unit === "request" || unit === "engine_ms";
    if (quota === undefined || windowS === undefined || (!isUsual && remaining > quota * nearlyUsedUp)) {
      return [];
    }
    const window = words.windows[windowS] ?? duration(windowS * 1000);
    return unit === "engine_ms"
      ? [words.engineTimeLeft(duration(remaining), duration(quota), window)]
      : [words.left(remaining, quota, words.units[unit ?? ""] ?? name, window)];
  });
  return shown.length === 0 ? null : (
    <section class="limits" aria-labelledby="limits-title">
      <h3 id="limits-title">{words.limits}</h3>
      <ul>
        {shown.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}
