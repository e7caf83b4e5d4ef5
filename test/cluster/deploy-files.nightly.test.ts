import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { describeMetrics } from "../../src/metrics/metrics.ts";
import { plansFromJson } from "../../src/wiring/plans.ts";
import { describeWith, testWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runGoTool } from "../tools/go-tools.ts";
import { pathOf } from "./deploy-tools.ts";
import { jsonCaller } from "./traffic.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const deploy = join(root, "deploy");
const chart = join(deploy, "helm/kibitz");

function run(file: string, ...args: readonly string[]): string {
  return execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

describeWith(
  "haproxy",
  "envoy",
  "helm",
)("the files for containers match their schemas", () => {
  const folder = useTemporaryFolder();

  test("hadolint finds no problem in the Dockerfile", () => {
    expect(run(pathOf("hadolint"), "--failure-threshold", "style", join(deploy, "Dockerfile"))).toBe("");
  });

  test("the compose file is valid by the schema of Docker Compose", () => {
    run(pathOf("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", join(deploy, "compose.yaml"));
  });

  test("Envoy accepts the configuration in deploy/", () => {
    expect(
      run(
        pathOf("envoy"),
        "--mode",
        "validate",
        "--log-level",
        "error",
        "-c",
        join(deploy, "envoy/envoy.yaml"),
      ),
    ).toContain("OK");
  });

  const plans = [
    { id: "keyless", limits: { depth_max: 18, nodes_max: 100_000_000 } },
    { id: "club", limits: { concurrent: 8 } },
  ];
  const variants: Readonly<Record<string, readonly string[]>> = {
    "as it is": [],
    "with all that it can have": [
      "--set=autoscaling.enabled=true,redis.existingSecret=redis,pepperSecret=pepper,settings.KIBITZ_ACCESS=keys",
      "--set=networkPolicy.callers[0].namespaceSelector.matchLabels.name=callers,imagePullSecrets[0].name=pull",
      `--set-json=settings.KIBITZ_SELF_SERVICE_KEYS_MAX=1000000`,
      "--set=podAnnotations.team=chess,serviceAccount.create=true",
      "--set=serviceAccount.annotations.role=reader,extraEnv[0].name=TZ,extraEnv[0].value=UTC",
      "--set=extraVolumes[0].name=engines,extraVolumes[0].configMap.name=engines",
      "--set=extraVolumeMounts[0].name=engines,extraVolumeMounts[0].mountPath=/engines",
      "--set=ingress.enabled=true,ingress.className=nginx,ingress.host=chess.example,ingress.tlsSecret=chess-tls",
      "--set=ingress.annotations.issuer=acme",
      `--set-json=plans=${JSON.stringify(plans)}`,
    ],
    "with a balancer of somebody else's": ["--set=balancer.enabled=false,redis.url=redis://redis:6379"],
  };
  describeWith("helm")("the Helm chart", () => {
    const rendered: Record<string, string> = {};
    beforeAll(async () => {
      for (const [variant, args] of Object.entries(variants)) {
        const { code, stdout, stderr } = await runGoTool(
          "helm",
          "template",
          "test",
          chart,
          "--kube-version=1.33.0",
          ...args,
        );
        expect(code, stderr).toBe(0);
        rendered[variant] = stdout;
      }
    });

    test("helm lint accepts the Helm chart", async () => {
      const { code, stdout } = await runGoTool("helm", "lint", "--strict", chart);
      expect(code, stdout).toBe(0);
    });

    test.each(Object.keys(variants))(
      "the Helm chart creates only objects that are valid by the schemas of Kubernetes: %s",
      (variant) => {
        const file = join(folder, "rendered.yaml");
        writeFileSync(file, rendered[variant] ?? "");
        const printed = run(pathOf("kubernetes-validate"), "--strict", "-k", "1.33", file);
        expect(printed).not.toMatch(/error|fail/i);
      },
    );

    test.each([
      ["redis.ulr=redis://redis:6379", /redis.*additional properties 'ulr' not allowed|ulr/],
      ["replicas=abc", /replicas.*(integer|number)/is],
      ["redis.url=localhost:6379", /redis.*url/is],
      ["settings.kibitz_access=keys", /kibitz_access/],
      ["service.type=Loadbalancer", /service.*type/is],
    ])(
      "the Helm chart refuses the invalid value %s, and the message names the setting",
      async (value, message) => {
        const { code, stdout, stderr } = await runGoTool("helm", "template", "test", chart, `--set=${value}`);
        expect(code, stdout).not.toBe(0);
        expect(stderr).toMatch(message);
      },
    );

    test("the Helm chart mounts the plans file into every node, and restarts the nodes after a change to the file", () => {
      const { "with all that it can have": text = "", "as it is": usual = "" } = rendered;
      const [, quoted = ""] = /^ +plans\.json: (".*")$/m.exec(text) ?? [];
      const reading = plansFromJson(JSON.parse(quoted));
      expect(reading).toMatchObject({ kind: "plans" });
      expect(JSON.stringify(reading)).toContain('"club"');
      expect(text).toContain("{ name: KIBITZ_PLANS, value: /etc/kibitz/plans.json }");
      expect(text).toContain("{ name: plans, mountPath: /etc/kibitz, readOnly: true }");
      expect(text).toMatch(/checksum\/plans: [0-9a-f]{64}/);
      expect(usual).not.toContain("plans");
    });

    test("the Helm chart writes large numbers in settings without an exponent", () => {
      const { "with all that it can have": text = "" } = rendered;
      expect(text).toContain('{ name: KIBITZ_SELF_SERVICE_KEYS_MAX, value: "1000000" }');
    });

    test("the containers of the Helm chart run without root, and can write only to volumes", () => {
      const { "as it is": text = "" } = rendered;
      expect(text.match(/^kind: Deployment$/gm)).toHaveLength(2);
      for (const promise of ["runAsNonRoot: true", "readOnlyRootFilesystem: true", "drop: [ALL]"]) {
        expect(text.split(promise), promise).toHaveLength(3);
      }
    });

    test("the grace period in the Helm chart is longer than a node needs to stop", () => {
      const { "as it is": text = "" } = rendered;
      const graceS = Number(/terminationGracePeriodSeconds: (\d+)/.exec(text)?.[1]);
      const sleepS = Number(/sleep: \{ seconds: (\d+) \}/.exec(text)?.[1]);
      // The longest stop in docs/measured.md takes 21 s.
      expect(graceS - sleepS).toBeGreaterThan(21);
    });

    test("the autoscaler of the Helm chart uses the expected wait, which Prometheus reads from the nodes", () => {
      const { "with all that it can have": text = "", "as it is": usual = "" } = rendered;
      const [, signal = ""] = /type: Pods\n +pods:\n +metric: \{ name: (\w+) \}/.exec(text) ?? [];
      expect(describeMetrics().map(({ name }) => name)).toContain(signal);
      const adapter = readFileSync(join(deploy, "monitoring/prometheus-adapter.yaml"), "utf8");
      expect(adapter).toContain(`seriesQuery: ${signal}{`);
      expect(adapter).toContain(`name: { as: ${signal} }`);
      // Prometheus can reach the metrics only if the address, the network policy and the port name are right.
      for (const promise of [
        "name: KIBITZ_METRICS_HOST, value: 0.0.0.0",
        "{ port: metrics }",
        "name: metrics, containerPort",
      ]) {
        expect(usual).toContain(promise);
      }
    });
  });

  testWith("prometheus")(
    "promtool accepts the Prometheus configuration for Kubernetes, and the query that the autoscaler uses",
    () => {
      // Debian's Prometheus does not support Kubernetes service discovery. The test checks the rest of the configuration.
      const config = readFileSync(join(deploy, "monitoring/prometheus-kubernetes.yml"), "utf8");
      const readable = config.replace(/ {4}kubernetes_sd_configs:\n(?: {6}.*\n)+/, "");
      expect(readable).not.toBe(config);
      writeFileSync(join(folder, "prometheus.yml"), readable);
      run("promtool", "check", "config", "--syntax-only", join(folder, "prometheus.yml"));
      const adapter = readFileSync(join(deploy, "monitoring/prometheus-adapter.yaml"), "utf8");
      const [, query = ""] = /metricsQuery: (.*)/.exec(adapter) ?? [];
      const filled = query
        .replace("<<.GroupBy>>", "pod")
        .replace("<<.Series>>", "kibitz_queue_expected_wait_seconds")
        .replace("<<.LabelMatchers>>", 'namespace="kibitz"');
      const rules = join(folder, "adapter-rules.yml");
      writeFileSync(
        rules,
        JSON.stringify({ groups: [{ name: "adapter", rules: [{ record: "wait", expr: filled }] }] }),
      );
      expect(run("promtool", "check", "rules", rules)).toContain("1 rules found");
    },
  );

  test("HAProxy accepts its configuration for Kubernetes", () => {
    execFileSync("haproxy", ["-c", "-f", join(deploy, "haproxy/haproxy.cfg")], {
      env: { ...process.env, NODES: "kibitz-nodes.default.svc.cluster.local:8080", NODES_MAX: "64" },
      stdio: "pipe",
    });
  });
});

describeWith("root", "namespaces")("a node with the restrictions of a container", () => {
  const folder = useTemporaryFolder();

  test("a node works without root and capabilities, with write access only to /tmp and its data folder", async () => {
    // The script uses the user id of the Dockerfile, and mounts this checkout in place of /app.
    const script = `set -e
      mkdir ${folder}/app ${folder}/data && chown 10001 ${folder}/data
      mount --bind ${root} ${folder}/app && mount -o remount,bind,ro ${folder}/app
      mount --bind ${folder}/data ${folder}/data
      mount -t tmpfs -o mode=1777 tmpfs /dev/shm
      mount -o remount,bind,ro /
      cd /
      export TMPDIR=/dev/shm
      exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set -all --inh-caps -all \\
        ${folder}/app/node_modules/node/bin/node --max-old-space-size=512 --max-semi-space-size=8 ${folder}/app/bin/kibitz.js serve`;
    const lines: string[] = [];
    const server = await startServer(
      { ...quickestSettings, PATH: process.env.PATH, KIBITZ_DATA_DIR: `${folder}/data` },
      { through: ["unshare", "--mount", "sh", "-c", script, "sh"], onLog: (line) => lines.push(line) },
    );
    try {
      expect(await jsonCaller(server.url)({ fen: "startpos", depth: 4 })).toMatch(/^[a-h][1-8]/);
      expect(readFileSync(`/proc/${server.pid}/status`, "utf8")).toMatch(/^Uid:\t10001\t10001/m);
      expect(readFileSync(`/proc/${server.pid}/status`, "utf8")).toMatch(/^CapEff:\t0+$/m);
      expect(lines.join("\n")).not.toMatch(/"level":[56]0/);
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });
});
