/** Writes the Grafana dashboard `deploy/monitoring/dashboard.json` from `panels.ts`. */
import { writeFileSync } from "node:fs";
import { type Panel, rows } from "./panels.ts";

const [perLine, width, height] = [3, 8, 8];
const datasource = { type: "prometheus", uid: "$datasource" };

export function dashboardJson(): string {
  const dashboard = {
    title: "Kibitz",
    uid: "kibitz",
    description: "Chess analysis: what callers notice, searches and engines, nodes.",
    tags: ["kibitz"],
    // The schema version of Grafana 10.
    schemaVersion: 38,
    timezone: "browser",
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    templating: {
      list: [
        { name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" },
        {
          name: "instance",
          label: "Node",
          type: "query",
          datasource,
          query: { query: 'label_values(up{job="kibitz"}, instance)', refId: "instance" },
          refresh: 2,
          includeAll: true,
          multi: true,
          allValue: ".*",
          current: { text: "All", value: "$__all" },
        },
      ],
    },
    panels: layOut(),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function layOut(): readonly object[] {
  const laid: object[] = [];
  let y = 0;
  for (const [title, panels] of Object.entries(rows)) {
    laid.push({ id: laid.length + 1, type: "row", title, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] });
    y += 1;
    for (const [index, panel] of panels.entries()) {
      const gridPos = {
        x: (index % perLine) * width,
        y: y + Math.floor(index / perLine) * height,
        w: width,
        h: height,
      };
      laid.push({ id: laid.length + 1, gridPos, ...drawn(panel) });
    }
    y += Math.ceil(panels.length / perLine) * height;
  }
  return laid;
}

function drawn({ title, about, unit, lines }: Panel): object {
  return {
    type: "timeseries",
    title,
    description: about,
    datasource,
    fieldConfig: { defaults: { unit }, overrides: [] },
    targets: Object.entries(lines).map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + index),
      datasource,
      expr,
      legendFormat,
    })),
  };
}

if (import.meta.main) {
  writeFileSync(new URL("../../deploy/monitoring/dashboard.json", import.meta.url), dashboardJson());
}
