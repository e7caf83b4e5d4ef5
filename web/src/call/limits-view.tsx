import { useEffect, useState } from "preact/hooks";
import { texts } from "../texts.ts";
import { rateLimitsFrom } from "./rate-limits.ts";

/** The caller's remaining quota, from the headers of the latest answer. */
export function LimitsView({ headers }: { readonly headers: Headers }) {
  const limits = rateLimitsFrom(headers);
  const passedS = useSecondsSince(headers);
  return limits.length === 0 ? null : (
    <section class="limits" aria-labelledby="limits-title">
      <h3 id="limits-title">{texts.call.limits}</h3>
      <ul>
        {limits.map(({ name, remaining, quota, resetS }) => {
          const leftS = Math.max(0, resetS - passedS);
          const left = leftS > 0 ? remaining : (quota ?? remaining);
          return (
            <li key={name}>
              <span>{name}</span>
              {quota !== undefined && <meter aria-label={name} min={0} max={quota} value={left} />}
              <span>{texts.call.limitLeft(left, quota)}</span>
              <span>{texts.call.limitResets(leftS)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Seconds since something is shown, counted as long as it is. */
function useSecondsSince(what: unknown): number {
  const [passedS, setPassedS] = useState(0);
  useEffect(() => {
    const startedAt = performance.now();
    setPassedS(0);
    const timer = setInterval(() => setPassedS(Math.floor((performance.now() - startedAt) / 1000)), 1000);
    return () => clearInterval(timer);
  }, [what]);
  return passedS;
}
