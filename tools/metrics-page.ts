/**
 * Writes `docs/metrics.md` from the families that the service has. Part of `npm run generate`.
 */
import { writeFileSync } from "node:fs";
import { type DescribedFamily, describeMetrics } from "../src/metrics/metrics.ts";

/** The page, as it is to be. */
export function metricsPage(): string {
  const all = describeMetrics();
  const isOurs = ({ name }: DescribedFamily) => name.startsWith("kibitz_");
  return `# Metrics

<!-- Made by \`npm run generate\` from src/metrics/families.ts. -->

\`kibitz serve\` answers \`GET /metrics\` on a port of its own: 9464 on this machine alone, unless
[\`KIBITZ_METRICS_PORT\` and \`KIBITZ_METRICS_HOST\`](settings.md) say otherwise. Where 9464 is taken there are none, and the log says
so; a port that was named and cannot be had ends the start. The [probes](running.md#probes-and-stopping) \`/healthz\` and \`/readyz\` are
answered there too. The text is in the format 0.0.4. For a reader whose \`Accept\` asks for it, as that of
Prometheus does, it is OpenMetrics, with exemplars of requests whose trace is kept,
by [this service](tracing.md) or by a caller who sent a sampled \`traceparent\`:

\`\`\`sh
curl -s http://localhost:9464/metrics | grep ^kibitz_
\`\`\`

\`\`\`yaml
scrape_configs:
  - job_name: kibitz
    static_configs:
      - targets: ["localhost:9464"]
\`\`\`

Times are in seconds and sizes in bytes. A family has at most 200 series whatever callers send: what comes beyond that is counted under
\`other\`. Histograms have \`_bucket\`, \`_sum\` and \`_count\`, which count among those.

## Of the service

${table(all.filter(isOurs))}

Scale by \`kibitz_queue_expected_wait_seconds\`: it tells how long the next search would wait, which neither CPU nor the number of those
who wait do.

## Of the process and of Node.js

As [prom-client](https://github.com/siimon/prom-client) names them. They are watched from the first time on that somebody asks for metrics, and those of the
collection of garbage count from then.

${table(all.filter((family) => !isOurs(family)))}
`;
}

function table(families: readonly DescribedFamily[]): string {
  const rows = families.map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  return ["| name | type | labels | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

if (import.meta.main) {
  writeFileSync(new URL("../docs/metrics.md", import.meta.url), metricsPage());
}
