/** Writes `docs/metrics.md` from the definitions of the metrics. `npm run generate` runs this. */
import { writeFileSync } from "node:fs";
import { type DescribedFamily, describeMetrics } from "../src/metrics/metrics.ts";

export function metricsPage(): string {
  const all = describeMetrics();
  const isOurs = ({ name }: DescribedFamily) => name.startsWith("kibitz_");
  return `# Metrics

<!-- Made by \`npm run generate\` from src/metrics/families.ts. -->

\`kibitz serve\` answers \`GET /metrics\` on a port of its own, by default 9464 on loopback
([\`KIBITZ_METRICS_PORT\` and \`KIBITZ_METRICS_HOST\`](settings.md)). If the default port is taken, there are no metrics, and the log says so. If you name a
port that cannot be opened, the start fails. The same port answers the [probes](running.md#probes-and-stopping). The format is
\`text/plain; version=0.0.4\`, or OpenMetrics if \`Accept\` prefers it, as Prometheus does. OpenMetrics has exemplars, which lead to [traces](tracing.md).

\`\`\`sh
curl -s http://localhost:9464/metrics | grep ^kibitz_
\`\`\`

\`\`\`yaml
scrape_configs:
  - job_name: kibitz
    static_configs:
      - targets: ["localhost:9464"]
\`\`\`

Times are in seconds and sizes in bytes. Labels have values from short lists, never a caller's text.

## Metrics of the service

${table(all.filter(isOurs))}

Scale by \`kibitz_queue_expected_wait_seconds\`: it says how long the next search would wait. CPU time and the number of waiting searches do not.

## Metrics of the process and of Node.js

[prom-client](https://github.com/siimon/prom-client) names them. They are collected from the first request for metrics on, so garbage collections count
from then.

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
