/** Writes `docs/metrics.md` from the definitions of the metrics. */
import { writeFileSync } from "node:fs";
import { type DescribedFamily, describeMetrics } from "../src/metrics/metrics.ts";

export function metricsPage(): string {
  const all = describeMetrics();
  const isOurs = ({ name }: DescribedFamily) => name.startsWith("kibitz_");
  return `# Metrics

<!-- Made by \`npm run generate\` from src/metrics/families.ts. -->

\`kibitz serve\` has a separate port for \`GET /metrics\`, by default 9464 on loopback
([\`KIBITZ_METRICS_PORT\` and \`KIBITZ_METRICS_HOST\`](settings.md)). If another program uses the default port, Kibitz logs a warning and serves no metrics.
If you set a port that cannot be opened, the server does not start. The metrics port also serves the [probes](running.md#probes-and-stopping). The format of
the metrics is \`text/plain; version=0.0.4\`, or OpenMetrics if the \`Accept\` header prefers OpenMetrics, as with Prometheus. In OpenMetrics, exemplars refer
to [traces](tracing.md).

\`\`\`sh
curl -s http://localhost:9464/metrics | grep ^kibitz_
\`\`\`

\`\`\`yaml
scrape_configs:
  - job_name: kibitz
    static_configs:
      - targets: ["localhost:9464"]
\`\`\`

Times are in seconds, and sizes in bytes. The values of labels are from short lists, and never contain text from a caller.

## Metrics of the service

${table(all.filter(isOurs))}

To scale automatically, use \`kibitz_queue_expected_wait_seconds\`. This metric is the expected wait of the next search. CPU time and the number of waiting
searches do not show how long a search must wait.

## Metrics of the process and of Node.js

The library [prom-client](https://github.com/siimon/prom-client) defines the names of these metrics. Kibitz starts to collect these metrics at the first request for
metrics. Earlier garbage collections are not counted.

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
